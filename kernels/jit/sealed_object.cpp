// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/sealed_object.hpp"

#include <cstring>
#include <string_view>

#include "kernels/jit/sha256.hpp"

namespace npu::jit {
namespace {

constexpr std::string_view kMagic = "npujit1\n";
constexpr std::size_t kTrailer = kMagic.size() + Digest().size();

Digest digest_of(const ObjectName& name, ConstByteSpan object) {
  Sha256 sha;
  sha.add_field(name.toolchain);
  sha.add_field(name.key);
  sha.add_field(view_of(object));  // its length is part of it
  return sha.finish();
}

}  // namespace

std::vector<std::byte> seal(const ObjectName& name, ConstByteSpan object) {
  const Digest digest = digest_of(name, object);
  std::vector<std::byte> sealed(object.data, object.data + object.size);
  sealed.resize(object.size + kTrailer);
  std::byte* trailer = sealed.data() + object.size;
  std::memcpy(trailer, kMagic.data(), kMagic.size());
  std::memcpy(trailer + kMagic.size(), digest.data(), digest.size());
  return sealed;
}

Result<std::vector<std::byte>> unseal(const ObjectName& name, std::vector<std::byte> sealed) {
  if (sealed.size() < kTrailer) return fail(ErrorCode::kWrongData, "it is too short");
  const std::size_t size = sealed.size() - kTrailer;
  const std::byte* trailer = sealed.data() + size;
  if (std::memcmp(trailer, kMagic.data(), kMagic.size()) != 0) {
    return fail(ErrorCode::kWrongData, "no digest is behind it");
  }
  const Digest digest = digest_of(name, {sealed.data(), size});
  if (std::memcmp(trailer + kMagic.size(), digest.data(), digest.size()) != 0) {
    return fail(ErrorCode::kWrongData, "its digest is not that of its bytes and name");
  }
  sealed.resize(size);
  return sealed;
}

}  // namespace npu::jit
