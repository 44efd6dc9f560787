declare module 'fs-native-extensions' {
  /** Exclusive open-file-description lock (Linux), flock (macOS), LockFileEx (Windows). */
  export function tryLock(fd: number): boolean
}
