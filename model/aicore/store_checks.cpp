// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/store_checks.hpp"

namespace npu::model {

namespace {

using Field = abi::FaultyField;

InstructionFinding malformed(Field field) {
  return {abi::FaultCode::kInstruction, field};
}

bool is_of(abi::ElementType element, platform::DataType type) {
  switch (element) {
    case abi::ElementType::kFp32:
      return type == platform::DataType::kFp32;
    case abi::ElementType::kFp16:
      return type == platform::DataType::kFp16;
    case abi::ElementType::kBf16:
      return type == platform::DataType::kBf16;
    case abi::ElementType::kInt32:
      return type == platform::DataType::kInt32;
    case abi::ElementType::kInt8:
      return type == platform::DataType::kInt8;
    default:
      return false;
  }
}

}  // namespace

InstructionFinding check_reduced(const platform::CopyOut& copy,
                                 const platform::StoreReduction& reduction) {
  if (reduction.operation == abi::ReduceOperation::kNone ||
      copy.target != platform::CopyOutTarget::kGlobal) {
    return {};
  }
  const auto size = abi::element_size(reduction.element);
  if (copy.row_bytes % size != 0) return malformed(Field::kRowBytes);
  const bool aligned = copy.to % size == 0 && (copy.rows == 1 || copy.to_pitch % size == 0);
  return aligned ? InstructionFinding{} : malformed(Field::kTo);
}

InstructionFinding check_reduced(const platform::Fixpipe& fixpipe,
                                 const platform::StoreReduction& reduction) {
  if (reduction.operation == abi::ReduceOperation::kNone ||
      fixpipe.target != platform::FixpipeTarget::kGlobal) {
    return {};
  }
  if (!is_of(reduction.element, fixpipe.to_type)) return malformed(Field::kKind);
  const auto size = abi::element_size(reduction.element);
  const bool aligned = fixpipe.to % size == 0 && (fixpipe.m == 1 || fixpipe.to_pitch % size == 0);
  return aligned ? InstructionFinding{} : malformed(Field::kTo);
}

}  // namespace npu::model
