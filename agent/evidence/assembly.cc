#include "agent/evidence/assembly.h"

#include <algorithm>

namespace rocetune::evidence {
namespace {

template <class T>
void take_known(T& into, const T& from);

template <class T>
void take_known(Observed<T>& into, const Observed<T>& from) {
  if (from) {
    if constexpr (Reflected<T>) {
      if (into) {
        take_known(*into, *from);
        return;
      }
    }
    into = from;
  } else if (!into && from.error().kind != Unavailable::Kind::not_read) {
    into = from;
  }
}

template <class T>
void take_known(std::optional<T>& into, const std::optional<T>& from) {
  if (from) into = from;
}

template <class T>
void take_known(std::vector<T>& into, const std::vector<T>& from) {
  if (from.size() >= into.size() && !from.empty()) into = from;
}

// What is not the type's default is known.
template <class T>
void take_known(T& into, const T& from) {
  if constexpr (Reflected<T>) {
    for_each_field(into, from, [](auto& one, const auto& other) { take_known(one, other); });
  } else {
    if (!(from == T{})) into = from;
  }
}

// Without what counts up: two moments of one configuration are one state.
host::Host settings_of(host::Host host) {
  for (host::Port& port : host.ports) {
    if (!port.dcb.pfc) continue;
    port.dcb.pfc->requests.fill(0);
    port.dcb.pfc->indications.fill(0);
  }
  return host;
}

bool names_something(const host::Port& port) { return !port.name.empty() || port.rdma.has_value(); }

bool is_same(const host::Port& a, const host::Port& b) {
  if (!a.name.empty() && !b.name.empty()) return a.name == b.name;
  const bool have_devices = a.rdma && b.rdma && !a.rdma->device.empty();
  return have_devices && a.rdma->device == b.rdma->device && a.rdma->port == b.rdma->port;
}

// A netdev here and an RDMA device there, one of each: two names of the same port.
bool may_be_same(const host::Port& a, const host::Port& b) {
  return (a.name.empty() || b.name.empty()) && !(a.rdma && b.rdma);
}

// A host while it is put together.
class Assembly {
 public:
  void add(const Document& document) {
    documents_.push_back(&document);
    if (!document.host_part) return;
    host::Host rest = *document.host_part;
    std::vector<host::Port> ports = std::move(rest.ports);
    rest.ports.clear();
    std::vector<host::Port> mine = std::move(host_.ports);
    host_.ports.clear();
    take_known(host_, rest);
    host_.ports = std::move(mine);
    for (host::Port& port : ports) {
      (names_something(port) ? named_ : nameless_)
          .push_back({std::move(port), document.series.empty() ? document.file : document.series});
    }
  }

  bool says_anything() const { return !named_.empty() || !nameless_.empty() || !(host_ == host::Host()); }

  host::Host take(const std::string& name) {
    for (Part& part : named_) place(part);
    unite_names();
    for (Part& part : nameless_) place_nameless(part);
    for (host::Port& port : host_.ports) {
      if (port.name.empty() && port.rdma) port.name = port.rdma->device;
    }
    host_.name = name;
    return std::move(host_);
  }

  const std::vector<const Document*>& documents() const { return documents_; }

 private:
  struct Part {
    host::Port port;
    std::string series;
  };

  void place(Part& part) {
    for (host::Port& port : host_.ports) {
      if (!is_same(port, part.port)) continue;
      merge(port, part.port);
      return;
    }
    host_.ports.push_back(std::move(part.port));
  }

  // One netdev and one RDMA device in all: they belong together.
  void unite_names() {
    if (host_.ports.size() != 2 || !may_be_same(host_.ports[0], host_.ports[1])) return;
    if (host_.ports[0].rdma.has_value() == host_.ports[1].rdma.has_value()) return;
    merge(host_.ports[0], host_.ports[1]);
    host_.ports.pop_back();
  }

  void place_nameless(Part& part) {
    if (host_.ports.size() == 1) {
      merge(host_.ports.front(), part.port);
      return;
    }
    part.port.name = "port of " + part.series;
    place(part);
  }

  host::Host host_;
  std::vector<Part> named_, nameless_;
  std::vector<const Document*> documents_;
};

}  // namespace

void merge(host::Port& into, const host::Port& from) { take_known(into, from); }

std::vector<AssembledHost> assemble_hosts(const Dossier& dossier) {
  // By name of the host, in the order of first mention.
  std::vector<std::string> names;
  for (const Document& document : dossier.documents()) {
    const std::string name = document.host.value_or("");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::vector<AssembledHost> out;
  for (const std::string& name : names) {
    std::vector<std::string> phases;  // of documents that say something of a host
    for (const Document& document : dossier.documents()) {
      if (document.host.value_or("") != name || !document.phase || !document.host_part) continue;
      if (std::find(phases.begin(), phases.end(), document.phase->text) == phases.end()) {
        phases.push_back(document.phase->text);
      }
    }
    if (phases.empty()) phases.emplace_back();
    std::vector<AssembledHost> states;
    for (const std::string& phase : phases) {
      Assembly assembly;
      for (const Document& document : dossier.documents()) {
        if (document.host.value_or("") != name) continue;
        if (document.phase && document.phase->text != phase) continue;
        assembly.add(document);
      }
      if (!assembly.says_anything()) continue;
      std::vector<const Document*> documents = assembly.documents();
      host::Host host = assembly.take(name);
      const auto same = std::find_if(states.begin(), states.end(), [&](const AssembledHost& state) {
        return settings_of(state.host) == settings_of(host);
      });
      if (same != states.end()) {
        same->documents.insert(same->documents.end(), documents.begin(), documents.end());
        continue;
      }
      states.push_back({std::move(host), phase, std::move(documents)});
    }
    if (states.size() > 1) {
      for (AssembledHost& state : states) {
        state.host.name += (state.host.name.empty() ? "" : " ") + std::string("(") + state.phase + ")";
      }
    } else if (!states.empty()) {
      states.front().phase.clear();
    }
    std::move(states.begin(), states.end(), std::back_inserter(out));
  }
  return out;
}

}  // namespace rocetune::evidence
