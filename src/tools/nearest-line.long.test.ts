import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'

test('a line of 32 MiB of spaces is compared, which exceeds what V8 optimises in patterns', () => {
  const script = `
    import { nearestLine } from ${JSON.stringify(new URL('nearest-line.ts', import.meta.url).href)}
    const long = ' '.repeat(32 * 1024 * 1024)
    const naive = () => { try { return long.replaceAll(/\\s+/g, '') } catch (error) { return error.name } }
    console.log(JSON.stringify([nearestLine(long + 'rope\\nsail', 'ro pe')?.line, naive()]))`
  const flags = ['--no-regexp-optimization', '--import', 'tsx', '--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(run.stdout.trim()).toBe('[1,"RangeError"]')
})
