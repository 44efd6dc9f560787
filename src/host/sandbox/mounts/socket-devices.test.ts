import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { readFile, stat } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { systemProgram } from '../../process/system-program.ts'
import { devicesIn, mayHold, mountsIn, socketDevices } from './socket-devices.ts'
import { socketNames } from './socket-mounts.ts'

const LISTED = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:27 / /dev/shm rw - tmpfs tmpfs rw
24 22 0:27 /sub /opt/a\\040b/shm rw shared:1 - tmpfs tmpfs rw
25 22 0:40 / /home/me/layers rw - overlay overlay rw
26 22 259:300 / /data rw - xfs /dev/x rw
`
const [ROOT, SHM] = [254 * 256, 27]

test('a folder may hold a socket of its own device, and of each one mounted below it', () => {
  const mounts = mountsIn(LISTED)
  const holds = (folder: string, ...devices: number[]) => mayHold(folder, new Set(devices), mounts)
  expect(holds('/home/me/.toolchain', ROOT)).toBe(true)
  expect(holds('/home/me/.toolchain', SHM)).toBe(false)
  expect(holds('/dev/shm/folder', SHM)).toBe(true)
  expect(holds('/dev/shm/folder', ROOT)).toBe(false)
  expect(holds('/opt/a b', SHM)).toBe(true)
  expect(holds('/opt/a', SHM)).toBe(false)
  expect(holds('/', SHM)).toBe(true)
})

test('kernels write a device in two ways, and both are recognized', () => {
  const mounts = mountsIn(LISTED)
  const [inside, outside] = [259 * 2 ** 20 + 300, 44 + 259 * 256 + 2 ** 20]
  for (const device of [inside, outside])
    expect(mayHold('/data/x', new Set([device]), mounts)).toBe(true)
})

test('a folder that shows files of other devices may hold any socket', () => {
  const mounts = mountsIn(LISTED)
  expect(mayHold('/home/me/layers/x', new Set([SHM]), mounts)).toBe(true)
  expect(mayHold('/home/me', new Set([SHM]), mounts)).toBe(true)
})

const LINE = (name: string, socket: number, device: string) =>
  `u_str LISTEN 0      511    ${name} ${socket}            * 0    <-> ino:1 dev:${device} peers:\n`

test('reads the devices of sockets, also with spaces in their names', () => {
  const unnamed = 'u_str LISTEN 0 5 @abstract 9 * 0 <-> peers:\n'
  const printed = LINE('/a b', 7, '0/27') + LINE('/c', 8, '1/2') + unnamed
  expect(devicesIn(printed)).toEqual(
    new Map([
      ['7', 27],
      ['8', 65_538],
    ]),
  )
})

test('a name that looks like another socket makes the list unusable, never wrong', () => {
  const real = LINE('/real', 7, '0/65024')
  const name = `/x\n${LINE('/y', 7, '0/27')}`
  expect(devicesIn(real + LINE(name, 8, '0/27'))).toEqual(new Map())
  const sameLine = `/x 7 * 0 <-> ino:1 dev:0/27 peers:`
  expect(devicesIn(LINE(sameLine, 8, '0/65024'))).toEqual(new Map([['8', 65_024]]))
  expect(devicesIn(real + LINE('/again', 7, '0/27'))).toEqual(new Map())
})

test.runIf(process.platform === 'linux' && (await systemProgram('ss')) !== undefined)(
  'the system says the device of a socket that it lists',
  async () => {
    const folder = await freshFolder()
    const path = join(folder, 'listening')
    const server = createServer().listen(path)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const names = socketNames(await readFile('/proc/net/unix', 'utf8'))
    const number = names.find(({ name }) => name === path)?.number ?? ''
    const device = (await socketDevices()).get(number)
    const mounts = mountsIn(await readFile('/proc/self/mountinfo', 'utf8'))
    expect((await stat(path)).isSocket()).toBe(true)
    expect(device).toBeDefined()
    expect(mayHold(folder, new Set([device ?? -1]), mounts)).toBe(true)
    expect(mayHold('/proc', new Set([device ?? -1]), mounts)).toBe(false)
  },
)
