// SPDX-License-Identifier: Apache-2.0
// What handles of operators' tensors stand for, by their public names.
#pragma once

#include <acl/acl_op.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct aclTensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<std::int64_t> sizes;

  std::size_t elements() const;
  std::size_t bytes() const;
};

struct aclDataBuffer {
  void* data = nullptr;
  std::size_t size = 0;
};

struct aclopAttr {
  std::map<std::string, bool> is_set;    // by name: not false, not 0
  std::map<std::string, float> numbers;  // by name: those that are floats
};
