export { createSandbox } from './sandbox.ts';
export * from './types.ts';
