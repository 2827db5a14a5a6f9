// SPDX-License-Identifier: Apache-2.0
// Memory that programs share under names.
#pragma once

#include <string>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {

// The name in the window, of `bytes`. kInvalidParameter.
Value<std::string> name_of(const CallWindow& call, Bytes bytes);

// `bytes` from the beginning of an allocation or a mapping on the card. The name that they are
// shared by from now on. kRuntimeParameter: it is none.
Value<std::string> share_under_name(Caller& caller, ProcessCard& card,
                                    driver::DeviceAddress address, Bytes bytes, bool everyone);
// Of the program's own: nobody may open it any more. kRuntimeParameter: it has no such name.
Outcome end_share(Caller& caller, const std::string& name);
// These may open it: `count` ids in the window behind `at` bytes of it.
Outcome admit_to_share(Caller& caller, const std::string& name, const CallWindow& call, Bytes at,
                       std::uint64_t count);
// Where the card of the caller reaches it. kRuntimeParameter: no such name, or the program was not
// named.
Value<driver::DeviceAddress> open_share(Caller& caller, const std::string& name);
Outcome close_share(Process& process, std::uint64_t address);

}  // namespace npu::exec::acl
