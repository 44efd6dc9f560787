import { CREDENTIAL_ATTACKS } from './root-credentials.ts'
import { setRootScene } from './root-scene.ts'
import { SOCKET_ATTACKS } from './root-sockets.ts'

/** A child process that tries every attack on the root of the sandbox as its user, and prints the result of each. */
const [, , root = '', system] = process.argv
const scene = await setRootScene(root, system === 'own')
for (const attack of [...CREDENTIAL_ATTACKS, ...SOCKET_ATTACKS]) {
  const { name } = attack
  const through = await attack.run(scene).catch((error: unknown) => `it broke: ${String(error)}`)
  console.log(JSON.stringify({ name, ...(through === undefined ? {} : { through }) }))
}
scene.clear()
