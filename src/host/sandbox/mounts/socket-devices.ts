import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { systemProgram } from '../../process/system-program.ts'
import { isIn } from './readable-mounts.ts'

/** The number of a device as the kernel reports it for a socket's file. */
export type Device = number

const SS_MS = 5_000
const MOST_BYTES = 16 * 1024 * 1024

/**
 * The device that each socket's file was created on, by the inode number of the socket. It never changes: a file cannot be moved
 * to another device. Missing for a socket that `ss` does not list, and empty where there is no `ss`.
 */
export async function socketDevices(): Promise<ReadonlyMap<string, Device>> {
  const ss = await systemProgram('ss')
  if (ss === undefined) return new Map()
  const options = { env: { LC_ALL: 'C' }, timeout: SS_MS, maxBuffer: MOST_BYTES }
  return promisify(execFile)(ss, ['-H', '-x', '-l', '-e', '-n'], options).then(
    ({ stdout }) => devicesIn(stdout),
    () => new Map(),
  )
}

const LINE = /^u_\w+ +\w+ +\d+ +\d+ +.+ (\d+) +\* 0 +<-> (?:ino:\d+ dev:(\d+)\/(\d+) +)?peers:\s*$/

/**
 * The devices in what `ss` prints, one socket a line. A name can contain a newline, and so look like the line of another socket;
 * what is left of its own line then is not one. So a single line of another form makes all of it unusable. Pure.
 */
export function devicesIn(printed: string): ReadonlyMap<string, Device> {
  const devices = new Map<string, Device>()
  for (const line of printed.split('\n').filter((one) => one !== '')) {
    const found = LINE.exec(line)
    const [, socket = '', high, low] = found ?? []
    if (found === null || devices.has(socket)) return new Map()
    if (high !== undefined) devices.set(socket, Number(high) * HIGH + Number(low))
  }
  return devices
}

/** `ss` prints the two halves of the number. */
const HIGH = 2 ** 16

/** The mounts of this process, as the kernel lists them. */
export interface MountedDevice {
  readonly at: string
  /** The ways in which kernels write this device as one number. */
  readonly numbers: readonly Device[]
  /** It shows files of other devices as its own. */
  readonly isLayered: boolean
}

/** `undefined` if the system does not list them. */
export async function mountedDevices(): Promise<readonly MountedDevice[] | undefined> {
  const listed = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const mounts = mountsIn(listed)
  return mounts.length === 0 ? undefined : mounts
}

const MOUNT = /^\d+ \d+ (\d+):(\d+) \S+ (\S+) .*? - (\S+) /
const LAYERED = /^(?:overlay|aufs|ecryptfs|unionfs|mergerfs|fuse|virtiofs|9p)/

/** Pure. */
export function mountsIn(listed: string): readonly MountedDevice[] {
  return listed.split('\n').flatMap((line) => {
    const [found, major = '', minor = '', at = '', type = ''] = MOUNT.exec(line) ?? []
    if (found === undefined) return []
    const numbers = deviceNumbers(Number(major), Number(minor))
    return [{ at: unescaped(at), numbers, isLayered: LAYERED.test(type) }]
  })
}

/** Of the kernel itself, and as it passes it to programs. */
function deviceNumbers(major: number, minor: number): readonly Device[] {
  const inside = major * 2 ** 20 + minor
  const outside = (minor % 256) + major * 256 + Math.floor(minor / 256) * 2 ** 20
  return [inside, outside]
}

/** Spaces and the like are three octal digits after a backslash. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** Whether a file on one of the devices can be in the folder, or in a mount below it. Pure. */
export function mayHold(
  folder: string,
  devices: ReadonlySet<Device>,
  mounts: readonly MountedDevice[],
): boolean {
  const around = mounts.filter(({ at }) => isIn(folder, at))
  const longest = Math.max(...around.map(({ at }) => at.length))
  // Several mounts at one place cover each other; which one is on top does not matter here.
  const own = around.filter(({ at }) => at.length === longest)
  const below = mounts.filter(({ at }) => isIn(at, folder))
  const all = [...own, ...below]
  return (
    own.length === 0 ||
    all.some(({ numbers, isLayered }) => isLayered || numbers.some((one) => devices.has(one)))
  )
}
