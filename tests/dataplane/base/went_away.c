/* Linked by the module `needy`; carries a name under which no file exists, as a library that was uninstalled. */
int only_in_a_library_that_went_away(void) { return 1; }
