#include "dataplane/port/dpdk/ethdev_queue.h"

#include <rte_ethdev.h>

#include <algorithm>

#include "dataplane/port/dpdk/broken_pipe.h"

namespace rocetune::dpdk {
namespace {

// A buffer's handle is its mbuf's address: this port made it.
rte_mbuf* mbuf_of(std::uintptr_t buffer) {
  return reinterpret_cast<rte_mbuf*>(buffer);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

std::size_t EthdevQueue::receive(std::span<port::ReceivedFrame> in) {
  std::array<rte_mbuf*, port::kMaxBurst> mbufs;
  const auto most = static_cast<std::uint16_t>(std::min(in.size(), mbufs.size()));
  const std::uint16_t count = rte_eth_rx_burst(port_, index_, mbufs.data(), most);
  std::size_t kept = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    rte_mbuf* mbuf = mbufs[i];
    counters_.received_bytes += mbuf->pkt_len;
    if (mbuf->nb_segs != 1) {
      ++counters_.receive_oversized;
      rte_pktmbuf_free(mbuf);
      continue;
    }
    const auto* data = rte_pktmbuf_mtod(mbuf, const std::byte*);
    in[kept++] = {{data, mbuf->data_len}, reinterpret_cast<std::uintptr_t>(mbuf)};
  }
  counters_.received_frames += count;
  return kept;
}

void EthdevQueue::release(std::span<const port::ReceivedFrame> done) {
  std::array<rte_mbuf*, port::kMaxBurst> mbufs;
  while (!done.empty()) {
    const std::size_t count = std::min(done.size(), mbufs.size());
    for (std::size_t i = 0; i < count; ++i) mbufs[i] = mbuf_of(done[i].buffer);
    rte_pktmbuf_free_bulk(mbufs.data(), static_cast<unsigned>(count));
    done = done.subspan(count);
  }
}

std::size_t EthdevQueue::reserve(std::span<port::TransmitBuffer> out) {
  std::array<rte_mbuf*, port::kMaxBurst> mbufs;
  const std::size_t room = kMaxWaiting - waiting_count_;
  std::size_t count = std::min({out.size(), mbufs.size(), room});
  if (count > 0 && rte_pktmbuf_alloc_bulk(pool_, mbufs.data(), static_cast<unsigned>(count)) != 0) count = 0;
  counters_.no_transmit_buffer += count < out.size() ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = {rte_pktmbuf_mtod(mbufs[i], std::byte*), rte_pktmbuf_tailroom(mbufs[i]), 0,
              reinterpret_cast<std::uintptr_t>(mbufs[i])};
  }
  return count;
}

std::size_t EthdevQueue::transmit(Instant now, std::span<const port::TransmitBuffer> filled) {
  if (waiting_count_ == 0) moved_ = now;
  std::size_t taken = 0;
  for (const port::TransmitBuffer& buffer : filled) {
    if (waiting_count_ == kMaxWaiting) break;
    rte_mbuf* mbuf = mbuf_of(buffer.buffer);
    mbuf->data_len = static_cast<std::uint16_t>(buffer.size);
    mbuf->pkt_len = buffer.size;
    waiting_[waiting_count_++] = mbuf;
    ++taken;
  }
  if (waiting_count_ > 0) {
    send_waiting();
    if (waiting_sent_ > 0) moved_ = now;
    if (waiting_count_ > 0 && now - moved_ > kPatienceWithoutLink && now >= look_at_link_) {
      look_at_link_ = now + kPatienceWithoutLink;
      if (now - moved_ > kPatience || !has_link()) drop_stalled(now);
    }
  }
  // More than reserve() lent cannot be: whoever holds buffers back (faults) may overrun the queue.
  if (taken < filled.size()) {
    counters_.transmit_full += filled.size() - taken;
    discard(filled.subspan(taken));
  }
  return taken;
}

void EthdevQueue::send_waiting() {
  std::uint64_t bytes = 0;
  const auto count = static_cast<std::uint16_t>(waiting_count_);
  // The device may free what it sends at once, so sizes are summed before; what it leaves is subtracted.
  for (std::size_t i = 0; i < count; ++i) bytes += waiting_[i]->pkt_len;
  waiting_sent_ = rte_eth_tx_burst(port_, index_, waiting_.data(), count);
  waiting_count_ = count - waiting_sent_;
  for (std::size_t i = 0; i < waiting_count_; ++i) {
    waiting_[i] = waiting_[i + waiting_sent_];
    bytes -= waiting_[i]->pkt_len;
  }
  counters_.sent_frames += waiting_sent_;
  counters_.sent_bytes += bytes;
}

bool EthdevQueue::has_link() const {
  const NoBrokenPipeSignal no_signal;
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

void EthdevQueue::drop_stalled(Instant now) {
  counters_.transmit_full += waiting_count_;
  rte_pktmbuf_free_bulk(waiting_.data(), static_cast<unsigned>(waiting_count_));
  waiting_count_ = 0;
  moved_ = now;
}

void EthdevQueue::discard(std::span<const port::TransmitBuffer> filled) {
  for (const port::TransmitBuffer& buffer : filled) rte_pktmbuf_free(mbuf_of(buffer.buffer));
}

port::PortCounters EthdevQueue::counters() {
  port::PortCounters counters = counters_;
  // The device counts per port, not per queue: the first queue tells.
  rte_eth_stats stats{};
  if (index_ == 0 && rte_eth_stats_get(port_, &stats) == 0) {
    counters.receive_missed = stats.imissed;
    counters.receive_errors = stats.ierrors;
    counters.receive_no_buffer = stats.rx_nombuf;
    counters.transmit_errors = stats.oerrors;
  }
  return counters;
}

}  // namespace rocetune::dpdk
