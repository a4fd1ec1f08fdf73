#include "dataplane/fabric/scenario_links.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

enum class Shape : std::uint8_t {
  star,
  dumbbell,
  leaf_spine,
  fat_tree,
  rail_optimised,
  dual_plane,
  dragonfly_plus,
  torus,
  links,
};

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Shape, P{E::star, "star"}, P{E::dumbbell, "dumbbell"}, P{E::leaf_spine, "leaf_spine"},
              P{E::fat_tree, "fat_tree"}, P{E::rail_optimised, "rail_optimised"},
              P{E::dual_plane, "dual_plane"}, P{E::dragonfly_plus, "dragonfly_plus"}, P{E::torus, "torus"},
              P{E::links, "links"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

constexpr std::uint64_t kMostSwitches = 1U << 16;
constexpr std::uint64_t kMostLinks = 1U << 20;
// Switches x switches with hosts: every switch knows its ports to each of the latter.
constexpr std::uint64_t kMostRoutes = 1U << 26;

// "4:1"
Parsed<Oversubscription> parse_oversubscription(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto down = parse_count(text.substr(0, colon), 1, 100);
  const auto up = parse_count(colon == std::string_view::npos ? "" : text.substr(colon + 1), 1, 100);
  if (!down || !up)
    return tl::unexpected(UnitError{std::string(text), "two numbers of 1 to 100 such as 4:1"});
  return Oversubscription{*down, *up};
}

// Reads one [topology]. A shape is built only if its numbers are all there and fit.
class TopologyReader {
 public:
  TopologyReader(TableReader& t, const LinkSpec& usual) : t_(t), usual_(usual) {}

  Topology read() {
    Shape shape = Shape::star;
    const bool has_shape = t_.required("shape", shape);
    rate_ = usual_.rate = rate("rate", rate_);
    need(read_delay(t_, usual_));
    delay_ = usual_.delay;
    if (has_shape) return shape == Shape::links ? read_links(t_, usual_) : with_losses(read(shape));
    for (const std::string& key : t_.keys()) t_.ignore(key);
    return {};
  }

 private:
  Topology read(Shape shape) {
    switch (shape) {
      case Shape::star:
        return read_star();
      case Shape::dumbbell:
        return read_dumbbell();
      case Shape::leaf_spine:
        return read_leaf_spine();
      case Shape::fat_tree:
        return t_.has("k") ? read_regular_fat_tree() : read_fat_tree();
      case Shape::rail_optimised:
        return read_rails();
      case Shape::dual_plane:
        return read_dual_plane();
      case Shape::dragonfly_plus:
        return read_dragonfly();
      case Shape::torus:
        return read_torus();
      case Shape::links:
        break;
    }
    return {};
  }
  // Shapes know of rates and delays only.
  Topology with_losses(Topology topology) const {
    for (LinkSpec& link : topology.links) {
      link.loss = usual_.loss;
      link.bit_errors = usual_.bit_errors;
    }
    return topology;
  }

  bool need(bool was_read) {
    is_good_ = is_good_ && was_read;
    return was_read;
  }
  void refuse(std::string_view key, std::string allowed) {
    is_good_ = false;
    t_.reject(key, std::move(allowed));
  }
  std::uint32_t count(std::string_view key, std::uint32_t least = 1, std::uint32_t most = kMostPorts) {
    std::uint32_t out = least;
    need(t_.required(key, out, between(least, most)));
    return out;
  }
  BitRate rate(std::string_view key, BitRate otherwise) {
    need(t_.optional(key, otherwise, a_rate()) || !t_.has(key));
    return otherwise;
  }
  Duration delay(std::string_view key) {
    Duration out = delay_;
    need(t_.optional(key, out, a_delay()) || !t_.has(key));
    return out;
  }
  // Of switches with so many hosts and uplinks: said as a rate, or by what it leaves of the hosts' rates.
  BitRate uplinks(std::string_view rate_key, std::uint32_t hosts, std::uint32_t count) {
    const bool has_rate = t_.has(rate_key);
    const BitRate given = rate(rate_key, rate_);
    Oversubscription ratio;
    if (!t_.optional_text("oversubscription", ratio, parse_oversubscription)) {
      need(!t_.has("oversubscription"));
      return given;
    }
    const BitRate out = uplink_rate(rate_, hosts, count, ratio);
    if (has_rate)
      refuse("oversubscription", fmt::format("this or {}, not both", rate_key));
    else
      check_uplinks(out);
    return out;
  }
  void check_uplinks(BitRate rate) {
    if (const std::string allowed = a_rate()(rate); !allowed.empty())
      refuse("oversubscription", fmt::format("a ratio with uplinks of {}, not {}", allowed, to_text(rate)));
  }
  BitRate spine_uplinks(std::uint32_t hosts, std::uint32_t spines) {
    return uplinks("spine_rate", hosts, spines);
  }
  // Whether what the numbers ask for can be built.
  bool fits(std::uint64_t hosts, std::uint64_t switches, std::uint64_t leaves, std::uint64_t links) {
    if (!is_good_) return false;
    const auto hold = [&](const char* what, std::uint64_t number, std::uint64_t bound) {
      if (number <= bound) return;
      is_good_ = false;
      t_.issue("shape", fmt::format("{} {}", number, what), fmt::format("at most {}", bound));
    };
    hold("hosts", hosts, kMostHosts);
    hold("switches", switches, kMostSwitches);
    hold("links", links, kMostLinks);
    hold("routes (switches x switches with hosts)", switches * leaves, kMostRoutes);
    return is_good_;
  }

  Topology read_star() {
    const std::uint32_t hosts = count("hosts", 2);
    return is_good_ ? star(hosts, rate_, delay_) : Topology{};
  }

  Topology read_dumbbell() {
    const DumbbellShape shape{.hosts_left = count("hosts_left"),
                              .hosts_right = count("hosts_right"),
                              .host_rate = rate_,
                              .bottleneck_rate = rate("bottleneck_rate", rate_),
                              .delay = delay_,
                              .bottleneck_delay = delay("bottleneck_delay")};
    return is_good_ ? dumbbell(shape) : Topology{};
  }

  Topology read_leaf_spine() {
    const std::uint64_t leaves = count("leaves");
    const std::uint64_t spines = count("spines");
    const std::uint64_t hosts = count("hosts_per_leaf");
    const BitRate up = spine_uplinks(narrow(hosts), narrow(spines));
    if (!fits(leaves * hosts, leaves + spines, leaves, leaves * (hosts + spines))) return {};
    return leaf_spine(narrow(leaves), narrow(spines), narrow(hosts), rate_, up, delay_);
  }

  Topology read_regular_fat_tree() {
    const std::uint32_t k = count("k", 2, 64);
    if (k % 2 != 0) refuse("k", "an even number");
    const BitRate up = uplinks("fabric_rate", 1, 1);
    if (!is_good_) return {};
    FatTreeShape shape = FatTreeShape::of_ports(k, rate_, delay_);
    shape.tor_rate = shape.core_rate = up;
    return fat_tree(shape);
  }

  Topology read_fat_tree() {
    t_.ignore("k");
    FatTreeShape shape{.pods = count("pods"),
                       .tors_per_pod = count("tors_per_pod"),
                       .aggregations_per_pod = count("aggregations_per_pod"),
                       .cores = count("cores", 1, kMostSwitches),
                       .hosts_per_tor = count("hosts_per_tor"),
                       .host_rate = rate_,
                       .delay = delay_};
    if (is_good_ && shape.cores % shape.aggregations_per_pod != 0)
      refuse("cores", fmt::format("a multiple of aggregations_per_pod ({})", shape.aggregations_per_pod));
    if (is_good_ && shape.cores / shape.aggregations_per_pod > kMostPorts)
      refuse("cores", fmt::format("at most {} times aggregations_per_pod", kMostPorts));
    const bool by_ratio = t_.has("oversubscription");
    shape.tor_rate = shape.core_rate =
        uplinks("fabric_rate", shape.hosts_per_tor, shape.aggregations_per_pod);
    if (by_ratio && is_good_) {
      // Only ToRs oversubscribe: what reaches an aggregation switch, its cores take.
      shape.core_rate =
          uplink_rate(shape.tor_rate, shape.tors_per_pod, shape.cores / shape.aggregations_per_pod, {});
      check_uplinks(shape.core_rate);
    }
    const std::uint64_t tors = std::uint64_t{shape.pods} * shape.tors_per_pod;
    const std::uint64_t aggregations = std::uint64_t{shape.pods} * shape.aggregations_per_pod;
    const std::uint64_t hosts = tors * shape.hosts_per_tor;
    const std::uint64_t links =
        hosts + tors * shape.aggregations_per_pod + std::uint64_t{shape.pods} * shape.cores;
    return fits(hosts, tors + aggregations + shape.cores, tors, links) ? fat_tree(shape) : Topology{};
  }

  Topology read_rails() {
    RailShape shape{.servers = count("servers", 1, kMostHosts),
                    .rails = count("rails", 1, 64),
                    .servers_per_group = count("servers_per_group"),
                    .spines = count("spines", 0),
                    .host_rate = rate_,
                    .delay = delay_};
    if (is_good_ && shape.servers % shape.servers_per_group != 0)
      refuse("servers", fmt::format("a multiple of servers_per_group ({})", shape.servers_per_group));
    if (shape.spines > 0) {
      shape.spine_rate = spine_uplinks(shape.servers_per_group, shape.spines);
    } else if (!is_good_) {  // else there are no uplinks, and keys for them are wrong
      t_.ignore("spine_rate");
      t_.ignore("oversubscription");
    }
    const std::uint64_t leaves = std::uint64_t{shape.servers} / shape.servers_per_group * shape.rails;
    if (is_good_ && shape.spines > 0 && leaves > kMostPorts)
      refuse("servers_per_group", fmt::format("at most {} leaves (groups x rails) for a spine", kMostPorts));
    const std::uint64_t hosts = std::uint64_t{shape.servers} * shape.rails;
    return fits(hosts, leaves + shape.spines, leaves, hosts + leaves * shape.spines) ? rail_optimised(shape)
                                                                                     : Topology{};
  }

  Topology read_dual_plane() {
    DualPlaneShape shape{.leaves = count("leaves"),
                         .spines = count("spines"),
                         .servers_per_leaf = count("servers_per_leaf"),
                         .host_rate = rate_,
                         .delay = delay_};
    shape.spine_rate = spine_uplinks(shape.servers_per_leaf, shape.spines);
    const std::uint64_t leaves = 2 * std::uint64_t{shape.leaves};
    const std::uint64_t hosts = leaves * shape.servers_per_leaf;
    return fits(hosts, leaves + 2 * shape.spines, leaves, hosts + leaves * shape.spines) ? dual_plane(shape)
                                                                                         : Topology{};
  }

  Topology read_dragonfly() {
    DragonflyShape shape{.groups = count("groups", 2),
                         .leaves_per_group = count("leaves_per_group"),
                         .spines_per_group = count("spines_per_group"),
                         .hosts_per_leaf = count("hosts_per_leaf"),
                         .global_links = count("global_links_per_spine"),
                         .host_rate = rate_,
                         .spine_rate = rate("spine_rate", rate_),
                         .delay = delay_,
                         .global_delay = delay("global_delay")};
    shape.global_rate = rate("global_rate", shape.spine_rate);
    const std::uint64_t global_links = std::uint64_t{shape.spines_per_group} * shape.global_links;
    if (is_good_ && global_links % (shape.groups - 1) != 0)
      refuse("global_links_per_spine",
             fmt::format("a number that times spines_per_group ({}) is a multiple of the other groups ({})",
                         shape.spines_per_group, shape.groups - 1));
    const std::uint64_t leaves = std::uint64_t{shape.groups} * shape.leaves_per_group;
    const std::uint64_t hosts = leaves * shape.hosts_per_leaf;
    const std::uint64_t spines = std::uint64_t{shape.groups} * shape.spines_per_group;
    const std::uint64_t links = hosts + leaves * shape.spines_per_group + shape.groups * global_links / 2;
    return fits(hosts, leaves + spines, leaves, links) ? dragonfly_plus(shape) : Topology{};
  }

  Topology read_torus() {
    TorusShape shape{.host_rate = rate_, .switch_rate = rate("switch_rate", rate_), .delay = delay_};
    need(t_.required("dims", shape.dims, [](const std::vector<std::uint32_t>& dims) {
      if (dims.empty() || dims.size() > 3) return std::string("one to three numbers such as [4, 4]");
      return each(between(2U, kMostPorts))(dims);
    }));
    shape.hosts_per_switch = count("hosts_per_switch");
    std::uint64_t switches = 1;
    for (const std::uint32_t dim : shape.dims) switches *= dim;
    const std::uint64_t links = switches * (shape.hosts_per_switch + shape.dims.size());
    return fits(switches * shape.hosts_per_switch, switches, switches, links) ? torus(shape) : Topology{};
  }

  // Checked by between() or fits().
  static std::uint32_t narrow(std::uint64_t n) { return static_cast<std::uint32_t>(n); }

  TableReader& t_;
  LinkSpec usual_;
  BitRate rate_ = gigabits_per_second(100);
  Duration delay_ = microseconds(1);
  bool is_good_ = true;
};

}  // namespace

void read_topology(TableReader& t, const LinkSpec& usual, Topology& out) {
  out = TopologyReader(t, usual).read();
}

}  // namespace rocetune::fabric
