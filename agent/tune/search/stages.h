// The parts of a tuning run, in their order; tuner.cc puts them together. Each spends trials of the session
// and returns early when it is over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/proposals.h"
#include "agent/tune/search/session.h"

namespace rocetune::search {

// ---- what is there
// ------------------------------------------------------------------------------------------

// A/A trials of the start, held-out workloads included; sets the session's noise. False: none ended.
bool measure_baseline(Session& session, Outcome& outcome);

// ---- the best so far ------------------------------------------------------------------------------------

// Trials that make up so many runs, but no fewer than `least`: what breaks down now and then does not show in
// few.
int trials_of(const Session& session, int runs, int least);

// Less than this part of the least worthwhile gain is no step ahead.
constexpr double kLeastPromise = 0.125;

// A candidate against the best so far, under one repeat of the best after the other, as long as it is not
// behind over those that both had (racing: Maron and Moore, NIPS 1993; the order of ParamILS and SMAC:
// Hutter, Hoos, Leyton-Brown, LION 5, 2011). It wins with all of them, or with a lead that chance does not
// explain; then it is crowned. False: the run is over.
struct Terms {
  double allowance = 0;  // how far behind it may be and win, as a score; below 0: it has to be ahead
  double patience = 0;   // how far behind that before the last repeat, in standard errors
  int most_repeats = 3;  // are enough
  // It only takes changes back: no repeat may show more in its favour than the allowance (a lucky run is no
  // lead), it may not lose more than the least gain on what is held out, beside the best, and it runs under
  // most_repeats unless it falls behind.
  bool takes_back = false;
  bool is_foundation = false;  // much is built on it: three runs and two repeats at least, whatever its lead
};
bool challenge(Session& session, Phase phase, const std::string& why, const Candidate& candidate,
               const Terms& terms = {});
// Runs the best under more repeats, up to as many as the noise asks for, so that luck is found out. One that
// fails there is best no longer.
bool reassure(Session& session, int reserve, int most_repeats = 3);
// How far one good candidate is ahead of another: over the repeats that both had, else by their means.
struct Lead {
  double score = 0;
  double half = 0;  // what chance may make of it: two standard errors; 0 where nothing at all differs
};
Lead lead_of(const Session& session, const Candidate& one, const Candidate& other);
// Candidates that never failed, the start excluded, by what is surely theirs of their mean score, best first.
std::vector<Candidate> by_rank(const Session& session);

// ---- what is known
// ------------------------------------------------------------------------------------------

// Doctor's fixes together and nothing else; of two for one knob the first stands.
Candidate fixes_of(const Session& session);
// Doctor's fixes together; where that is not better than the start, one after the other. Notes what cannot be
// tried.
void try_remedies(Session& session, Outcome& outcome);
// The best so far with those of doctor's fixes that it lacks, all at once: what is known to be wrong shows in
// the long run.
void add_remedies(Session& session);
// Every preset over the best so far, and everything at its standard value.
void try_presets(Session& session, Outcome& outcome, int reserve);

// Tries what the guide proposes. True: what it foretold held, of these and of doctor's fixes, and what it
// does not know was tried too. Sets the outcome's guidance.
bool follow(Session& session, Guide& guide, const std::vector<Guide::Proposal>& proposals, Outcome& outcome,
            int reserve);
// What it foretold of what was tried so far.
Guidance guidance_of(const Session& session, Guide& guide);

// ---- what is looked for
// -------------------------------------------------------------------------------------

// Explores, then follows the model until `reserve` trials are left or nothing more is to be had. Returns why
// it ended.
std::string search_on(Session& session, Proposer& proposer, int reserve);
// Takes back what the best does not need, several changes at once and then one by one: the smallest candidate
// as good is crowned. Returns what taking back one change alone was measured to lose, by its knobs, as a
// score.
using Losses = std::map<std::vector<std::size_t>, Lead>;
Losses shrink(Session& session, Proposer& proposer, int reserve);

// ---- whether it holds
// ---------------------------------------------------------------------------------------

struct Confirmation {
  enum class Result {
    better,      // beyond doubt, and enough to be worth it
    not_shown,   // the interval reaches below that
    spoiled,     // a run of the candidate failed or breached
    held_out,    // a workload that was not searched on got worse
    incomplete,  // the run was over before it could be said
  } result = Result::incomplete;
  std::string reason;
  std::vector<int> trials;           // numbers, baseline and candidate in pairs
  std::optional<Interval> gain;      // score
  std::optional<Interval> held_out;  // score
  double mean = 0;                   // gain, as a score
  bool is_steady = true;             // every run of the candidate had a good part of that
  bool is_doubtful = false;          // gains enough, but not beyond doubt or not for what is held out
  int pairs = 0;
  int baseline_failures = 0;  // pairs in which it did not run
};
// Candidate and baseline in pairs, in turns (ABBA), under circumstances that nobody was chosen by. `attempt`
// counts from 0: each has circumstances of its own where a run cannot be repeated; where it can, all have the
// same, and the baseline is run once. `reserve` trials are kept for another one: not spent on
// more than five runs of it and three of the baseline.
Confirmation confirm(Session& session, const Candidate& candidate, int attempt, int reserve = 0);

// ---- what it comes from
// -------------------------------------------------------------------------------------

// Takes each change back from the best, and makes it alone, until `reserve` trials are left.
// `losses`: what is known of the first.
std::vector<Attribution> attribute(Session& session, const Candidate& best, const Losses& losses,
                                   int reserve);
// What a confirmed candidate is without the changes that neither help alone nor are missed, if that is
// confirmed as well and no worse than chance or half of the least gain that counts. `attribution` keeps those
// that are left.
struct Pruned {
  Candidate candidate;
  Confirmation confirmation;
};
std::optional<Pruned> prune(Session& session, const Candidate& best, const Confirmation& confirmed,
                            std::vector<Attribution>& attribution, int attempt);

// Of all good candidates those that no other beats or equals in everything.
std::vector<FrontPoint> front_of(const Session& session);

}  // namespace rocetune::search
