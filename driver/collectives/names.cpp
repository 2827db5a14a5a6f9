// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/collectives.hpp"

namespace npu::driver {

std::string_view to_string(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return "all_reduce";
    case CollectiveOperation::kAllGather:
      return "all_gather";
    case CollectiveOperation::kReduceScatter:
      return "reduce_scatter";
    case CollectiveOperation::kBroadcast:
      return "broadcast";
    case CollectiveOperation::kReduce:
      return "reduce";
    case CollectiveOperation::kAllToAll:
      return "all_to_all";
    case CollectiveOperation::kScatter:
      return "scatter";
    case CollectiveOperation::kExchange:
      return "exchange";
    case CollectiveOperation::kBarrier:
      return "barrier";
  }
  return "?";
}

std::string_view to_string(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::kAutomatic:
      return "automatic";
    case CollectiveAlgorithm::kOneShot:
      return "one_shot";
    case CollectiveAlgorithm::kMesh:
      return "mesh";
    case CollectiveAlgorithm::kRing:
      return "ring";
    case CollectiveAlgorithm::kHalvingDoubling:
      return "halving_doubling";
    case CollectiveAlgorithm::kNhr:
      return "nhr";
    case CollectiveAlgorithm::kPairwise:
      return "pairwise";
    case CollectiveAlgorithm::kAiv:
      return "aiv";
  }
  return "?";
}

bool has_algorithm(CollectiveOperation operation, CollectiveAlgorithm algorithm) {
  const bool everything = operation == CollectiveOperation::kAllReduce;
  const bool phases = everything || operation == CollectiveOperation::kAllGather ||
                      operation == CollectiveOperation::kReduceScatter ||
                      operation == CollectiveOperation::kBroadcast ||
                      operation == CollectiveOperation::kReduce;
  switch (algorithm) {
    case CollectiveAlgorithm::kAutomatic:
    case CollectiveAlgorithm::kMesh:
      return true;
    case CollectiveAlgorithm::kOneShot:
      return phases;
    case CollectiveAlgorithm::kNhr:
    case CollectiveAlgorithm::kRing:
      return phases || operation == CollectiveOperation::kBarrier;
    case CollectiveAlgorithm::kHalvingDoubling:
      return everything;
    case CollectiveAlgorithm::kPairwise:
      return operation == CollectiveOperation::kAllToAll;
    case CollectiveAlgorithm::kAiv:
      return everything || operation == CollectiveOperation::kAllGather ||
             operation == CollectiveOperation::kReduceScatter ||
             operation == CollectiveOperation::kAllToAll;
  }
  return false;
}

}  // namespace npu::driver
