/**
 * Tabs, frames and workers of one browser.
 *
 * @packageDocumentation
 */
export {};
