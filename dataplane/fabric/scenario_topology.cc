#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

enum class Shape : std::uint8_t { star, leaf_spine, fat_tree };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Shape, P{E::star, "star"}, P{E::leaf_spine, "leaf_spine"}, P{E::fat_tree, "fat_tree"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

constexpr std::uint32_t kMostPorts = 1024;  // of a switch towards hosts, and towards other switches

}  // namespace

void read_topology(TableReader& t, Topology& out) {
  Shape shape = Shape::star;
  BitRate rate = gigabits_per_second(100);
  Duration delay = microseconds(1);
  t.required("shape", shape);
  t.optional("rate", rate, a_rate());
  t.optional("delay", delay, a_delay());
  switch (shape) {
    case Shape::star: {
      std::uint32_t hosts = 0;
      if (t.required("hosts", hosts, between(2U, kMostPorts))) out = star(hosts, rate, delay);
      break;
    }
    case Shape::fat_tree: {
      std::uint32_t k = 0;
      if (!t.required("k", k, between(2U, 64U))) break;
      if (k % 2 != 0) return t.reject("k", "an even number");
      out = fat_tree(k, rate, delay);
      break;
    }
    case Shape::leaf_spine: {
      std::uint32_t leaves = 0;
      std::uint32_t spines = 0;
      std::uint32_t hosts = 0;
      BitRate up = rate;
      t.required("leaves", leaves, between(1U, kMostPorts));
      t.required("spines", spines, between(1U, kMostPorts));
      t.required("hosts_per_leaf", hosts, between(1U, kMostPorts));
      t.optional("spine_rate", up, a_rate());
      if (std::uint64_t{leaves} * hosts > kMostHosts)
        return t.reject("hosts_per_leaf", fmt::format("at most {} hosts in all", kMostHosts));
      out = leaf_spine(leaves, spines, hosts, rate, up, delay);
      break;
    }
  }
}

}  // namespace rocetune::fabric
