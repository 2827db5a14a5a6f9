// SPDX-License-Identifier: Apache-2.0
// Files of kernels that `npusim cc` makes (abi/kernel_file.hpp), as a program loads them.
#pragma once

#include <string>
#include <vector>

#include "apps/exec/acl/process.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::exec::acl {

bool is_kernel_file(ConstByteSpan file);

// Fills in the kernels and variables of the binary, whose object is such a file.
// kInvalidArgument: the file is of another version, torn, or has a kernel that is no shared object.
Status read_kernel_file(Binary& binary);

// Null: there is none of that name.
const FiledKernel* find_kernel(const std::vector<FiledKernel>& kernels, const std::string& name);
// Of all kernels of the binary, as a message has them.
std::string names_of(const Binary& binary);

// Of a function that is not built in: its shared object, and the key of its image.
ConstByteSpan object_of(const Function& function);
std::string key_of(const Function& function);
// The key of the variables that kernels of the binary have.
std::string variables_key(const Binary& binary);
ConstByteSpan values_of(const Binary& binary);

}  // namespace npu::exec::acl
