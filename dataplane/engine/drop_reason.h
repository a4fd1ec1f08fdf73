// Why a received frame, or part of what it asked, was not acted on. Every such frame is counted under exactly
// one reason; none is logged.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/base/reflect.h"

namespace rocetune::engine {

enum class DropReason : std::uint8_t {
  // Validation, before a queue pair is known.
  not_roce,            // another protocol: for the host, or for nobody
  truncated,           // ends before its headers do
  bad_length,          // length fields contradict each other or the frame
  bad_version,         // IP or transport version
  fragment,            // an IP fragment
  bad_icrc,            // damaged on the way
  unknown_opcode,      // no opcode, or one of a service that is not supported
  special_queue_pair,  // QP 0 and 1: management datagrams
  unknown_queue_pair,  // no such number, or one of an earlier life
  wrong_service,       // the opcode's service is not the queue pair's
  wrong_partition,     // P_Key
  wrong_peer,          // the source address is not the connected one
  not_ready,           // the queue pair is not connected, or in error
  // Requests at the responder.
  duplicate_request,   // older than expected; acknowledged again or executed again, not carried out twice
  out_of_sequence,     // newer than expected, after the one NAK of its gap
  receiver_not_ready,  // no receive request: answered by an RNR NAK
  invalid_request,     // order of opcodes, length, alignment: NAK, and the queue pair fails
  remote_access,       // key, bounds, permission: NAK, and the queue pair fails
  responder_full,      // a repeated READ or atomic while its answers still wait: the first will do
  atomic_forgotten,    // a repeated atomic whose result is no longer kept
  bad_queue_key,       // UD: Q_Key
  no_receive_request,  // UC, UD: nowhere to put it
  message_broken,      // UC: part of a message of which a packet was lost
  // Responses at the requester.
  unexpected_response,  // acknowledges what was never sent, or answers another kind of request
  duplicate_response,   // acknowledges what is acknowledged
  response_gap,         // a READ response beyond a lost one: the READ is asked again from there
  bad_response,         // lengths or order no responder may send: the queue pair fails
  reserved_syndrome,    // an AETH without meaning
};
constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::reserved_syndrome) + 1;

}  // namespace rocetune::engine

namespace rocetune {
ROCETUNE_ENUM(engine::DropReason, P{E::not_roce, "not_roce"}, P{E::truncated, "truncated"},
              P{E::bad_length, "bad_length"}, P{E::bad_version, "bad_version"}, P{E::fragment, "fragment"},
              P{E::bad_icrc, "bad_icrc"}, P{E::unknown_opcode, "unknown_opcode"},
              P{E::special_queue_pair, "special_queue_pair"}, P{E::unknown_queue_pair, "unknown_queue_pair"},
              P{E::wrong_service, "wrong_service"}, P{E::wrong_partition, "wrong_partition"},
              P{E::wrong_peer, "wrong_peer"}, P{E::not_ready, "not_ready"},
              P{E::duplicate_request, "duplicate_request"}, P{E::out_of_sequence, "out_of_sequence"},
              P{E::receiver_not_ready, "receiver_not_ready"}, P{E::invalid_request, "invalid_request"},
              P{E::remote_access, "remote_access"}, P{E::responder_full, "responder_full"},
              P{E::atomic_forgotten, "atomic_forgotten"}, P{E::bad_queue_key, "bad_queue_key"},
              P{E::no_receive_request, "no_receive_request"}, P{E::message_broken, "message_broken"},
              P{E::unexpected_response, "unexpected_response"},
              P{E::duplicate_response, "duplicate_response"}, P{E::response_gap, "response_gap"},
              P{E::bad_response, "bad_response"}, P{E::reserved_syndrome, "reserved_syndrome"});
}  // namespace rocetune
