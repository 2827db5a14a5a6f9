// SPDX-License-Identifier: Apache-2.0
// Events that models share with other streams (ACL_EVENT_EXTERNAL). Each is a flag on the card: a
// record sets it, a reset clears it, and a stream waits until it is set, though nothing has
// recorded it yet. In a capture all three are tasks of the stream.
#pragma once

#include <memory>

#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

// kNoEvent: all signals of the card are in use.
Outcome make_external(ProcessCard& card, ProgramEvent& event);
void destroy_external(ProcessCard& card, const ProgramEvent& event);

// kStreamContext: the event is of another device. Also the errors of submit().
Outcome set_flag(ProgramStream& stream, const ProgramEvent& event);
Outcome clear_flag(ProgramStream& stream, const ProgramEvent& event);
Outcome wait_for_flag(ProgramStream& stream, const ProgramEvent& event);

}  // namespace npu::exec::acl
