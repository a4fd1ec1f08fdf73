#include "congestion/dcqcn/parameters.h"

namespace rocetune::dcqcn {

Parameters Parameters::mlx5() {
  Parameters p;  // the member defaults are the firmware's
  p.cp.curve = {Bytes(400'000), Bytes(1'600'000), Ratio::from_percent(20)};
  return p;
}

Parameters Parameters::paper() {
  Parameters p;
  p.rp.clamp_target_rate = true;
  p.rp.clamp_target_rate_after_time_increase = false;
  p.rp.time_reset = microseconds(55);
  p.rp.byte_reset = Bytes(10'000'000);
  p.rp.threshold = 5;
  p.rp.additive_increase = megabits_per_second(40);
  p.rp.hyper_increase = megabits_per_second(400);
  p.rp.minimum_rate = megabits_per_second(10);
  p.rp.alpha_decay = 1020;  // g = 1/256
  p.rp.alpha_period = microseconds(55);
  p.rp.rate_reduce_monitor_period = microseconds(0);
  p.rp.initial_alpha = 1024;
  p.rp.alpha_update = ReactionPointParameters::AlphaUpdate::on_cnp;
  p.rp.cut = ReactionPointParameters::Cut::at_once;
  p.rp.hyper = ReactionPointParameters::HyperIncrease::growing;
  p.np.minimum_time_between_cnps = microseconds(50);
  p.cp.curve = {Bytes(5'000), Bytes(200'000), Ratio::from_percent(1)};
  return p;
}

Parameters Parameters::hpcc() {
  Parameters p = mlx5();
  p.rp.byte_reset = Bytes(0);
  p.rp.additive_increase = megabits_per_second(20);
  p.rp.hyper_increase = megabits_per_second(200);
  p.rp.minimum_rate = megabits_per_second(1000);
  p.rp.alpha_decay = 1020;
  p.rp.initial_alpha = 1024;
  p.rp.cut = ReactionPointParameters::Cut::end_of_period;
  p.np.minimum_time_between_cnps = microseconds(0);
  return p;
}

}  // namespace rocetune::dcqcn
