#include "dataplane/fabric/size_distribution.h"

#include <algorithm>

#include "congestion/fixed_point.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/toml_reader.h"

namespace rocetune::fabric {
namespace {

constexpr std::string_view kFolder = "workloads";
constexpr std::string_view kExtension = ".toml";

}  // namespace

std::string SizeDistribution::issue_of(const std::vector<SizePoint>& points) {
  if (points.empty()) return "at least one point";
  SizePoint before{Bytes(0), Ratio(-1)};
  for (const SizePoint& point : points) {
    if (point.size < before.size) return "sizes that do not fall";
    if (point.size > kLongest) return "sizes of at most " + to_text(kLongest);
    if (point.share <= before.share) return "shares that rise";
    before = point;
  }
  return before.share == Ratio::one() ? std::string() : "a last share of 100%";
}

SizeDistribution::SizeDistribution(std::vector<SizePoint> points) : points_(std::move(points)) {
  ROCETUNE_ASSERT(issue_of(points_).empty());
}

Bytes SizeDistribution::mean() const {
  Wide sum = Wide(points_[0].size.count()) * points_[0].share.count() * 2;  // in half bytes x shares
  for (std::size_t i = 1; i < points_.size(); ++i) {
    sum += Wide((points_[i - 1].size + points_[i].size).count()) *
           (points_[i].share - points_[i - 1].share).count();
  }
  return Bytes(std::max<std::int64_t>(1, static_cast<std::int64_t>((sum + Ratio::kOne) / (2 * Ratio::kOne))));
}

Bytes SizeDistribution::sample(Random& random) const {
  const Ratio at(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(Ratio::kOne))));
  const auto above = std::ranges::upper_bound(points_, at, {}, &SizePoint::share);
  if (above == points_.begin()) return std::max(above->size, Bytes(1));
  const SizePoint& below = *(above - 1);
  const Bytes more(mul_div((above->size - below.size).count(), (at - below.share).count(),
                           (above->share - below.share).count()));
  return std::max(below.size + more, Bytes(1));
}

Expected<Workload> workload_from_toml(std::string_view text, const std::string& file) {
  Workload out;
  std::vector<SizePoint> points;
  const auto read = read_toml(text, file, [&](TableReader& t) {
    t.required("name", out.name, not_empty());
    t.required("description", out.description, not_empty());
    t.required("origin", out.origin, not_empty());
    t.required_array_of_tables("points", [&](TableReader& point) {
      SizePoint& one = points.emplace_back();
      point.required("size", one.size, between(Bytes(0), SizeDistribution::kLongest));
      point.required("share", one.share, between(Ratio(0), Ratio::one()));
    });
    if (const std::string allowed = SizeDistribution::issue_of(points); t.is_good() && !allowed.empty())
      t.reject("points", allowed);
  });
  if (!read) return tl::unexpected(read.error());
  out.sizes = SizeDistribution(std::move(points));
  return out;
}

Expected<Workload> shipped_workload(const std::string& name) {
  return ConfigFiles()
      .read(fmt::format("{}/{}{}", kFolder, name, kExtension))
      .and_then([](const ConfigFile& file) { return workload_from_toml(file.text, file.name); });
}

std::vector<std::string> workload_names() {
  std::vector<std::string> out;
  const auto files = ConfigFiles().list(kFolder, kExtension).value();
  for (const ConfigFile& file : files) {
    const std::size_t begin = kFolder.size() + 1;
    out.push_back(file.path.substr(begin, file.path.size() - begin - kExtension.size()));
  }
  return out;
}

}  // namespace rocetune::fabric
