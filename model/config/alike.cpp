// SPDX-License-Identifier: Apache-2.0
#include "model/config/alike.hpp"

#include <algorithm>

namespace npu::model {
namespace {

bool parts_alike(const KeyedPart& a, const KeyedPart& b) {
  return a.table == b.table && alike(*a.table, a.object, b.object);
}

bool key_alike(const Key& key, const void* a, const void* b) {
  if (const auto section = section_of(key, a)) return parts_alike(*section, *section_of(key, b));
  if (const auto items = items_of(key, a)) {
    const auto others = *items_of(key, b);
    return std::equal(items->begin(), items->end(), others.begin(), others.end(), parts_alike);
  }
  const KeyValue one = key.load(a), other = key.load(b);
  return one.number == other.number && one.text == other.text;
}

}  // namespace

bool alike(const Table& table, const void* a, const void* b) {
  return std::all_of(table.keys.begin(), table.keys.end(),
                     [&](const Key& key) { return key_alike(key, a, b); });
}

}  // namespace npu::model
