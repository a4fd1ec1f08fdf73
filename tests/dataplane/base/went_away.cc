// Linked by the module `needy`; carries a name under which no file exists, as a library that was uninstalled.
extern "C" __attribute__((visibility("default"))) int only_in_a_library_that_went_away() { return 1; }
