// SPDX-License-Identifier: Apache-2.0
// caller N: N calls of the C API, as fast as they are answered.
#include <acl/acl.h>

#include <cstdlib>

int main(int argc, char** argv) {
  aclrtStream stream = nullptr;
  if (argc != 2 || aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
      aclrtCreateStream(&stream) != ACL_SUCCESS) {
    return 1;
  }
  for (long left = std::atol(argv[1]); left > 0; --left) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    if (aclrtStreamQuery(stream, &status) != ACL_SUCCESS) return 1;
  }
  return aclFinalize();
}
