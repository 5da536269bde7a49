export type { ContractSuite } from './contract-suite.ts';
export { type FaultyTransport, faults } from './faults.ts';
export {
  type FenceBench,
  type FenceCapabilities,
  type FenceClient,
  type FenceContractOptions,
  fenceContract,
} from './fence-contract.ts';
export type { FenceEntry, FenceVerdict, SimFence } from './sim-fence.ts';
export type { SimNet } from './sim-net.ts';
export type { SimStats } from './sim-network.ts';
export type { SimClockFault, SimEvent, SimNode, SimNodeOptions } from './sim-node.ts';
export type { SimulateOptions } from './sim-options.ts';
export type { SimStore, StoreFailure } from './sim-store.ts';
export { type Simulation, SimulationError, simulate } from './simulate.ts';
export {
  type StoreBench,
  type StoreCapabilities,
  type StoreContractOptions,
  storeContract,
} from './store-contract.ts';
export {
  type TransportBench,
  type TransportCapabilities,
  type TransportContractOptions,
  transportContract,
} from './transport-contract.ts';
