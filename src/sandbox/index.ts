export { createSandbox, type SandboxOptions } from './sandbox.ts';
export { encodeFrameHead, FrameDecoder } from './frames.ts';
export * from './types.ts';
