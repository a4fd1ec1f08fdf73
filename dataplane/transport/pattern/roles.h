// A core of the asking side, and one of the answering side.
#pragma once

#include "dataplane/transport/pattern/crew.h"
#include "dataplane/transport/pattern/shard.h"
#include "dataplane/transport/pattern/traffic.h"

namespace rocetune::pattern {

// Asked between pieces of a row: whether the user wants to end.
using StopQuestion = bool (*)();

class ClientRole final : public Role {
 public:
  static constexpr int kParts = 20;  // of a row, for median and spread
  // How far it was, when.
  struct Mark {
    Instant when;
    std::uint64_t completed = 0;
  };

  ClientRole(Shard& shard, const TickClock& clock, Asker asker, StopQuestion stop)
      : shard_(shard), clock_(clock), asker_(std::move(asker)), stop_(stop) {}
  Expected<> turn() override;
  Expected<> prepare(Bytes size) override { return asker_.prepare(size); }
  Expected<> run(Duration span) override;

  const Asker& asker() const { return asker_; }
  // Of the last run: its start, the end of each part.
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  Expected<> finish(Instant end);
  Shard& shard_;
  const TickClock& clock_;
  Asker asker_;
  StopQuestion stop_;
  std::vector<Mark> marks_;
};

class ServerRole final : public Role {
 public:
  ServerRole(Shard& shard, Answerer answerer) : shard_(shard), answerer_(std::move(answerer)) {}
  Expected<> turn() override {
    const Instant now = shard_.driver().receive();
    auto status = answerer_.work();
    shard_.driver().transmit(now);
    return status;
  }
  Expected<> prepare(Bytes size) override { return answerer_.prepare(size); }
  Expected<> run(Duration) override { return {}; }
  const Answerer& answerer() const { return answerer_; }

 private:
  Shard& shard_;
  Answerer answerer_;
};

}  // namespace rocetune::pattern
