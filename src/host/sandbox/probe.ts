/**
 * What a program inside tries; plain JavaScript, since it runs in a Node of its own. Told as JSON what to try, it prints as
 * JSON what it managed to do. Every attempt leaves nothing behind when it fails.
 */
export const PROBE = `
const fs = require('node:fs')
const net = require('node:net')
const { canary, work, write, change, read, sockets, port } = JSON.parse(process.argv[1])
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
const connects = (target) =>
  new Promise((resolve) => {
    const socket = net.connect(target)
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
const environs = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => '/proc/' + pid + '/environ')

void (async () => {
  // Whether it went through is for those outside to see: here it may have been a place of our own.
  for (const path of write) opens(path, 'w')
  const reached = []
  for (const path of sockets) if (await connects({ path })) reached.push('a socket outside')
  if (await connects({ host: '127.0.0.1', port })) reached.push('the network')
  const found = {
    works: opens(work, 'w'),
    capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((name) => !/^0+$/.test(field(name))),
    mayGainPowers: field('NoNewPrivs') !== '1',
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
