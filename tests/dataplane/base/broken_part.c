/*
 * Modules that must be refused. In C, with the descriptor's layout written out once more: it is fixed for ever, and
 * this file says so independently of dataplane/base/part.h. BROKEN_* say what is wrong.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef BROKEN_NEEDS_LIBRARY
int only_in_a_library_that_went_away(void);
static void *contract(void) { return only_in_a_library_that_went_away() ? NULL : NULL; }
#else
static void *contract(void) { return NULL; }
#endif

struct descriptor {
  uint32_t magic;
  uint32_t contract_version;
  const char *name;
  const char *project_version;
  void *(*contract)(void);
};

const struct descriptor BROKEN_SYMBOL = {
    .magic = BROKEN_MAGIC,
    .contract_version = 1,
    .name = BROKEN_NAME,
    .project_version = BROKEN_PROJECT_VERSION,
    .contract = contract,
};
