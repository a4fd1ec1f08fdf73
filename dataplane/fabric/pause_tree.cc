#include "dataplane/fabric/pause_tree.h"

#include <algorithm>
#include <map>

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostNames = 4;  // of those that one cause held
constexpr std::size_t kMostCauses = 200;

struct CauseOfPauses {
  std::uint64_t xoffs = 0;
  std::uint64_t while_held = 0;  // of them, while the queue was held itself
  std::vector<ClassPlace> held;
  std::vector<ClassPlace> consequences;
  bool is_consequence = false;
  bool is_written = false;
};

class PauseTreeWriter {
 public:
  PauseTreeWriter(const Network& network, const FarEnds& far_ends, Instant end)
      : network_(network), far_ends_(far_ends), end_(end) {
    for (std::uint32_t i = 0; i < network.switches(); ++i) add_switch(network.switch_at(i));
    for (NodeId id = 0; id < network.hosts(); ++id) add_host(network.host(id));
    join();
  }

  std::vector<PauseCause> write() {
    std::vector<std::pair<std::size_t, ClassPlace>> roots;
    for (const auto& [place, cause] : causes_) {
      if (!cause.is_consequence) roots.emplace_back(size_of(place, 0), place);
    }
    std::ranges::stable_sort(roots, std::greater<>(), [](const auto& root) { return root.first; });
    for (const auto& [size, place] : roots) write(place, 0);
    // What is left holds itself up in a circle.
    for (const auto& [place, cause] : causes_) write(place, 0);
    return std::move(out_);
  }

 private:
  void add_switch(const SwitchNode& node) {
    // Each ingress that held its peer belongs to the queue which most of its reasons name.
    std::map<ClassPlace, std::map<std::uint16_t, XoffCount>> by_ingress;
    for (const auto& [reason, count] : node.xoff_reasons())
      by_ingress[{{node.id(), reason.ingress}, reason.priority}][reason.egress] = count;
    for (const auto& [ingress, reasons] : by_ingress) {
      const auto most =
          std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.second.xoffs; });
      CauseOfPauses& cause = causes_[{{node.id(), most->first}, ingress.priority}];
      for (const auto& [egress, count] : reasons) {
        cause.xoffs += count.xoffs;
        cause.while_held += count.held;
      }
      cause.held.push_back({far_ends_.of(ingress.at), ingress.priority});
    }
  }
  void add_host(const HostNode& host) {
    for (int p = 0; p < Priority::kCount; ++p) {
      if (host.xoffs(Priority(p)) == 0) continue;
      const ClassPlace place{{host.id(), 0}, static_cast<std::uint8_t>(p)};
      CauseOfPauses& cause = causes_[place];
      cause.xoffs += host.xoffs(Priority(p));
      cause.held.push_back({far_ends_.of(place.at), place.priority});
    }
  }
  // A queue that was held is a consequence of whatever held it.
  void join() {
    std::map<ClassPlace, ClassPlace> held_by;
    for (const auto& [place, cause] : causes_) {
      for (const ClassPlace& held : cause.held) held_by.emplace(held, place);
    }
    for (auto& [place, cause] : causes_) {
      const auto holder = held_by.find(place);
      if (holder == held_by.end() || far_ends_.is_host(place.at.node) || 3 * cause.while_held < cause.xoffs)
        continue;
      cause.is_consequence = true;
      causes_.at(holder->second).consequences.push_back(place);
    }
  }
  std::size_t size_of(const ClassPlace& place, std::size_t depth) const {
    std::size_t size = causes_.at(place).held.size();
    if (depth > causes_.size()) return size;
    for (const ClassPlace& next : causes_.at(place).consequences) size += size_of(next, depth + 1);
    return size;
  }

  void write(const ClassPlace& place, int depth) {
    CauseOfPauses& cause = causes_.at(place);
    if (cause.is_written || out_.size() >= kMostCauses) return;
    cause.is_written = true;
    PauseCause& line = out_.emplace_back();
    line.depth = depth;
    line.pauser = far_ends_.name(place.at.node);
    line.because = because(place, cause);
    line.priority = place.priority;
    line.xoffs = cause.xoffs;
    for (std::size_t i = 0; i < cause.held.size(); ++i) {
      if (i < kMostNames) line.held += (i == 0 ? "" : ", ") + far_ends_.name(cause.held[i].at);
      line.held_ratio = std::max(line.held_ratio, held_ratio(cause.held[i]));
    }
    if (cause.held.size() > kMostNames)
      line.held += fmt::format(" and {} more", cause.held.size() - kMostNames);
    const std::vector<ClassPlace> consequences = cause.consequences;
    for (const ClassPlace& next : consequences) write(next, depth + 1);
  }
  std::string because(const ClassPlace& place, const CauseOfPauses& cause) const {
    if (far_ends_.is_host(place.at.node)) return "receives slowly";
    return fmt::format("port {} to {} is {}", place.at.port, far_ends_.name(far_ends_.of(place.at).node),
                       cause.is_consequence ? "held" : "congested");
  }
  double held_ratio(const ClassPlace& held) const {
    const Priority p(held.priority);
    const Duration time =
        far_ends_.is_host(held.at.node)
            ? network_.host(held.at.node).held_time(end_, p)
            : network_.switch_at(far_ends_.switch_index(held.at.node)).held_time(end_, held.at.port, p);
    return end_ > Instant() ? time.seconds() / (end_ - Instant()).seconds() : 0;
  }

  const Network& network_;
  const FarEnds& far_ends_;
  Instant end_;
  std::map<ClassPlace, CauseOfPauses> causes_;
  std::vector<PauseCause> out_;
};

}  // namespace

std::vector<PauseCause> pause_tree(const Network& network, const FarEnds& far_ends, Instant end) {
  return PauseTreeWriter(network, far_ends, end).write();
}

}  // namespace rocetune::fabric
