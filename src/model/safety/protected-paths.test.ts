import { expect, test } from 'vitest'
import { PROTECTED_NAMES, protectedEnd, protectedName } from './protected-paths.ts'

test('every entry has one name and a reason', () => {
  const names = PROTECTED_NAMES.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(PROTECTED_NAMES.filter(({ reason }) => reason === '')).toEqual([])
})

test.each(PROTECTED_NAMES.map((entry) => [entry.name, entry] as const))(
  '%s is found at the root, in subfolders, in another case, and as a parent folder',
  (name, entry) => {
    const plain = name.replace('*', 'any')
    for (const path of [plain, `a/b/${plain}`, plain.toUpperCase(), `./${plain}/x`]) {
      expect(protectedName(path)?.rule).toBe(entry.rule)
    }
    const last = plain.slice(plain.lastIndexOf('/') + 1).toLowerCase()
    expect(protectedEnd(`a/${plain}`, last) !== undefined).toBe(entry.rule === 'asks')
  },
)

test.each(['.gitignore', 'src/vscode/x', 'my.vscode', 'AGENTS.md.txt', '.github/x', 'config', ''])(
  '%j is not protected',
  (path) => {
    expect(protectedName(path)).toBeUndefined()
  },
)
