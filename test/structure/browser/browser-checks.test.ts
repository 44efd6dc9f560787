import { expect, test } from 'vitest'
import { nodeReachableFrom } from './browser-checks.ts'

test('what a browser loads is followed through imports of values to what only Node has', () => {
  const tree = new Map(
    Object.entries({
      'web/src/a.ts': `import { b } from '../../src/encoding/b.ts'\nexport const a = b`,
      'web/src/lazy.ts': `export const load = () => import('../../src/encoding/d.ts')`,
      'src/encoding/b.ts': `import { c } from './c.ts'\nimport type { T } from './t.ts'\nexport const b: T = c`,
      'src/encoding/c.ts': `export const c = Buffer.from('a') // process`,
      'src/encoding/d.ts': `import { readFileSync } from 'node:fs'\nexport const d = readFileSync`,
      'src/encoding/t.ts': `import { cwd } from 'node:process'\nexport type T = ReturnType<typeof cwd>`,
    }),
  )
  expect(nodeReachableFrom(tree, 'web/src/').toSorted()).toEqual([
    'src/encoding/c.ts uses Buffer.',
    'src/encoding/d.ts uses node:fs',
  ])
})
