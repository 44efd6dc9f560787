declare module 'fs-native-extensions' {
  const native: {
    /** Exclusive open-file-description lock (Linux), flock (macOS), LockFileEx (Windows). */
    tryLock(fd: number): boolean
  }
  export default native
}
