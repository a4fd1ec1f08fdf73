// The module librocetune-verbs.so.
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "dataplane/verbs/device_facts.h"
#include "dataplane/verbs/part.h"
#include "dataplane/verbs/sniffer.h"

namespace rocetune::verbs {
namespace {

struct CloseDevice {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using OpenDevice = std::unique_ptr<ibv_context, CloseDevice>;
struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};

Observed<Mlx5Facts> read_mlx5(ibv_device& device, ibv_context& context) {
  if (!mlx5dv_is_supported(&device)) return absent("not an mlx5 device");
  mlx5dv_context answer{};
  answer.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION | MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
  if (const int error = mlx5dv_query_device(&context, &answer); error != 0) {
    return failed(fmt::format("mlx5dv_query_device: {}", errno_text(error)));
  }
  return mlx5_facts(answer);
}

// Why a device does not open. libibverbs looks for another node after a refusal and then reports that there
// is none, so the node itself is asked first.
Unavailable why_closed(const ibv_device& device, int open_error) {
  const std::string node = fmt::format("/dev/infiniband/{}", device.dev_name);
  const int error = access(node.c_str(), R_OK | W_OK) != 0 ? errno : open_error;
  return unavailable(fail_os(error, "cannot open {}", node).value()).value();
}

Observed<DeviceFacts> read_facts(ibv_device& device) {
  errno = 0;
  const OpenDevice context(ibv_open_device(&device));
  if (context == nullptr) return tl::unexpected(why_closed(device, errno));
  ibv_device_attr_ex attributes{};
  if (const int error = ibv_query_device_ex(context.get(), nullptr, &attributes); error != 0) {
    return failed(fmt::format("ibv_query_device_ex: {}", errno_text(error)));
  }
  DeviceFacts facts = device_facts(attributes);
  facts.mlx5 = read_mlx5(device, *context);
  return facts;
}

Expected<std::unique_ptr<ibv_device*, FreeList>> list_devices(int& count) {
  std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  if (list == nullptr) {
    const int error = errno;
    return fail_os(error, "this kernel shows no RDMA devices to user space");
  }
  return list;
}

class VerbsModule final : public VerbsPart {
 public:
  Expected<std::vector<Device>> devices() override {
    int count = 0;
    const auto list = list_devices(count);
    if (!list) return tl::unexpected(list.error());
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) {
      ibv_device& device = *list->get()[i];
      devices.push_back({ibv_get_device_name(&device), read_facts(device)});
    }
    std::sort(devices.begin(), devices.end(),
              [](const Device& a, const Device& b) { return a.name < b.name; });
    return devices;
  }

  Expected<std::unique_ptr<Sniffer>> sniff(const SniffRequest& request) override {
    int count = 0;
    const auto list = list_devices(count);
    if (!list) return tl::unexpected(list.error());
    std::string names;
    for (int i = 0; i < count; ++i) {
      ibv_device& device = *list->get()[i];
      const std::string name = ibv_get_device_name(&device);
      names += (names.empty() ? "" : ", ") + name;
      if (name != request.device) continue;
      errno = 0;
      ibv_context* context = ibv_open_device(&device);
      if (context == nullptr) {
        const Unavailable why = why_closed(device, errno);
        return fail(why.kind == Unavailable::Kind::denied ? ErrorKind::denied : ErrorKind::io, "{}", why.why);
      }
      return open_sniffer(context, request);
    }
    return fail(ErrorKind::absent, "found {}, allowed: {}", request.device,
                names.empty() ? "nothing: this host has no RDMA device" : names);
  }
};

}  // namespace
}  // namespace rocetune::verbs

ROCETUNE_EXPORT_PART(rocetune::verbs::VerbsPart, rocetune::verbs::VerbsModule);
