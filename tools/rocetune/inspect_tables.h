// The tables of `rocetune inspect`, and its list of interfaces.
#pragma once

#include <string>
#include <vector>

#include "agent/host/interfaces.h"
#include "agent/host/model.h"
#include "agent/host/nic_row.h"
#include "dataplane/base/text_table.h"
#include "tools/rocetune/inspect_section.h"

namespace rocetune::cli {

// What frames of each priority go through: classification, PFC, receive buffer, traffic class. Empty if the
// port shows none of it.
TextTable class_map(const host::Dcb& dcb);
// Congestion-control parameters with their defaults; empty if they cannot be read.
TextTable parameter_table(const host::Port& port, const host::NicRow& row);
// The interfaces of one port ("" = the host's own): one line for the usable ones, one per reason for the
// others.
void add_interfaces(const std::vector<host::InterfaceState>& interfaces, const std::string& port,
                    bool list_usable, Section& out);

}  // namespace rocetune::cli
