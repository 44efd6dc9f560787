import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'

test('32 MiB of base64 are checked, which exceeds what V8 optimises in patterns', () => {
  const script = `
    import { isBase64 } from ${JSON.stringify(new URL('base64.ts', import.meta.url).href)}
    const text = 'A'.repeat(32 * 1024 * 1024)
    const naive = () => { try { return /^[A-Za-z0-9+/]+={0,2}$/.test(text) } catch (error) { return error.name } }
    console.log(JSON.stringify([isBase64(text), isBase64(text + 'A=!='), naive()]))`
  const flags = ['--no-regexp-optimization', '--import', 'tsx', '--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(run.stdout.trim()).toBe('[true,false,"RangeError"]')
})
