/** For example `1 Session`, `3 Sessions`, `1,234 lines`; `many` is an irregular plural. Pure, like everything here. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`
}

/** 1234567 -> 1,234,567 */
export function groupDigits(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

const KIB = 1024
const MIB = 1024 ** 2
const GIB = 1024 ** 3
const TENTH = MIB / 10

/** For example `9.9 MiB`: always in MiB with one decimal. */
export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

/** In MiB with one decimal, in GiB from 1 GiB on, and in bytes if MiB would round to nothing. */
export function shownBytes(bytes: number): string {
  if (bytes < TENTH) return countOf(bytes, 'byte')
  return bytes < GIB ? mebibytes(bytes) : `${(bytes / GIB).toFixed(1)} GiB`
}

/** As in file listings: `812 bytes`, `12.3 KiB`, `9.9 MiB`. */
export function fileSize(bytes: number): string {
  if (bytes < KIB) return countOf(bytes, 'byte')
  // Avoids `1024.0 KiB`.
  const inKib = (bytes / KIB).toFixed(1)
  return bytes < MIB && inKib !== '1024.0' ? `${inKib} KiB` : mebibytes(bytes)
}
