#include "tools/rocetune/command_line.h"

int main(int argc, char** argv) { return static_cast<int>(rocetune::cli::run(argc, argv)); }
