/**
 * Guards at resources, which refuse what an outdated leader sends.
 *
 * @packageDocumentation
 */
export {};
