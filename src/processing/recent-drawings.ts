/** Drawn pages that were looked at a moment ago, by the name of their blob: what a name stands for never changes. */
export interface RecentDrawings {
  get(sha256: string): Uint8Array | undefined;
  keep(sha256: string, bytes: Uint8Array): void;
}

/** An agent that looks twice does so within one conversation. */
const FORGET_AFTER_MS = 120_000;

/** At most `maxBytes` of them, the latest; all are let go once nobody has looked for two minutes. */
export function createRecentDrawings(maxBytes: number): RecentDrawings {
  // A Map keeps the order of insertion: the first is the one that was longest not looked at.
  const kept = new Map<string, Uint8Array>();
  let size = 0;
  let forgetting: NodeJS.Timeout | undefined;
  const forget = (): void => {
    kept.clear();
    size = 0;
    forgetting = undefined;
  };
  const touch = (sha256: string, bytes: Uint8Array): void => {
    kept.delete(sha256);
    kept.set(sha256, bytes);
    if (forgetting) forgetting.refresh();
    else forgetting = setTimeout(forget, FORGET_AFTER_MS).unref();
  };
  return {
    get(sha256) {
      const bytes = kept.get(sha256);
      if (bytes) touch(sha256, bytes);
      return bytes;
    },
    keep(sha256, bytes) {
      if (bytes.byteLength > maxBytes / 4) return;
      if (!kept.has(sha256)) size += bytes.byteLength;
      touch(sha256, bytes);
      for (const [oldest, { byteLength }] of kept) {
        if (size <= maxBytes) return;
        kept.delete(oldest);
        size -= byteLength;
      }
    },
  };
}
