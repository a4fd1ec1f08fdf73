// The algorithms, for the factory. Each takes a request that schedule.cc has checked.
#pragma once

#include "dataplane/schedule/schedule.h"

namespace rocetune::schedule {

std::unique_ptr<Schedule> make_ring(const Request& request);
std::unique_ptr<Schedule> make_tree(const Request& request);
std::unique_ptr<Schedule> make_chain(const Request& request);
std::unique_ptr<Schedule> make_halving_doubling(const Request& request);
std::unique_ptr<Schedule> make_in_network(const Request& request);
std::unique_ptr<Schedule> make_pairwise(const Request& request);

}  // namespace rocetune::schedule
