export { type FaultyTransport, faults } from './faults.ts';
export {
  type ContractSuite,
  type TransportBench,
  type TransportCapabilities,
  type TransportContractOptions,
  transportContract,
} from './transport-contract.ts';
