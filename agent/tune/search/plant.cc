#include "agent/tune/search/plant.h"

namespace rocetune::search {

std::vector<Expected<Observation>> Plant::observe_all(const std::vector<Request>& requests,
                                                      const std::stop_token& stop) {
  std::vector<Expected<Observation>> out;
  for (const Request& request : requests) {
    out.push_back(observe(request, stop));
    if (!out.back()) {  // of no use any more: the rest is not asked
      out.resize(requests.size(), out.back());
      break;
    }
  }
  return out;
}

}  // namespace rocetune::search
