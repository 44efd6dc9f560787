/**
 * The program that runs inside: plain JavaScript, since it runs in a Node of its own. Takes its attempts as JSON and prints
 * as JSON which of them succeeded. A failed attempt leaves nothing behind.
 */
export const PROBE = `
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { canary, work, write, change, read, sockets, port, refused } = JSON.parse(process.argv[1])
const status = fs.readFileSync('/proc/self/status', 'utf8')
const field = (name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)?.[1] ?? ''
const can = (attempt) => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
const opens = (path, how) => can(() => fs.closeSync(fs.openSync(path, how)))
const holds = (path) => {
  let found = false
  can(() => (found = fs.readFileSync(path, 'latin1').includes(canary)))
  return found
}
const bits = (path) => {
  let found = 0
  can(() => (found = fs.statSync(path).mode & 0o6000))
  return found
}
const leavesSetId = (mode) => {
  can(() => fs.chmodSync(work, mode))
  const made = work + mode.toString(8)
  can(() => fs.closeSync(fs.openSync(made, 'w', mode)))
  return bits(work) !== 0 || bits(made) !== 0
}
// One of the two folders may be mounted noexec. Where a program cannot run, there is no status.
const statusIn = (folder) => {
  const program = folder + '/refused'
  can(() => fs.writeFileSync(program, Buffer.from(refused, 'base64'), { mode: 0o700 }))
  return spawnSync(program).status
}
const connects = (target) =>
  new Promise((resolve) => {
    const socket = net.connect(target)
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
const environs = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => '/proc/' + pid + '/environ')

void (async () => {
  // Only the outside can tell whether the write got through: the file may be in a private folder.
  for (const path of write) opens(path, 'w')
  const reached = []
  for (const path of sockets) if (await connects({ path })) reached.push('a socket outside')
  if (await connects({ host: '127.0.0.1', port })) reached.push('the network')
  const found = {
    works: opens(work, 'w'),
    capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((name) => !/^0+$/.test(field(name))),
    mayGainPowers: field('NoNewPrivs') !== '1',
    filtered: field('Seccomp') === '2',
    leavesSetId: [0o4755, 0o2755].some(leavesSetId),
    notRefused: statusIn(process.env.HOME) ?? statusIn(path.dirname(work)),
    changed: change.filter((path) => opens(path, 'r+')),
    reached,
    canaries: [
      ...(Object.values(process.env).includes(canary) ? ['the environment'] : []),
      ...(read.some(holds) ? ['a file'] : []),
      ...(environs.some(holds) ? ['another process'] : []),
    ],
  }
  process.stdout.write(JSON.stringify(found), () => process.exit(0))
})()
`
