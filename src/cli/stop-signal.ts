/**
 * Resolves at the first SIGTERM or SIGINT. The second one ends the process at once: somebody is in a hurry.
 * `ignoreInterrupt`: SIGINT is left to the parent, which gets it too when a person presses Ctrl-C.
 */
export function onStopSignal(options: { ignoreInterrupt?: boolean } = {}): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', options.ignoreInterrupt ? () => {} : stop);
  });
}
