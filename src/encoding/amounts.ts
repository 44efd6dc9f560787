/** As in `1 Session`, `3 Sessions`, `1,234 lines`; `many` where the plural does not end in s alone. Pure, as all here. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** 1234567 -> 1,234,567 */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

const KIB = 1024
const MIB = 1024 ** 2
const GIB = 1024 ** 3
const TENTH = MIB / 10

/** As in `9.9 MiB`: with one decimal, however few or many they are. */
export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

/** In MiB with one decimal, in GiB from one on, and in bytes where that would say nothing. */
export function shownBytes(bytes: number): string {
  if (bytes < TENTH) return counted(bytes, 'byte')
  return bytes < GIB ? mebibytes(bytes) : `${(bytes / GIB).toFixed(1)} GiB`
}

/** As lists of files show it: `812 bytes`, `12.3 KiB`, `9.9 MiB`. */
export function fileSize(bytes: number): string {
  if (bytes < KIB) return counted(bytes, 'byte')
  // What would round to 1024.0 KiB is shown as the MiB it nearly is.
  const inKib = (bytes / KIB).toFixed(1)
  return bytes < MIB && inKib !== '1024.0' ? `${inKib} KiB` : mebibytes(bytes)
}
