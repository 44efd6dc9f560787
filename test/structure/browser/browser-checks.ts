import {
  codeOf,
  isRelative,
  isTest,
  loadedWith,
  resolve,
  specifiersOf,
  type Tree,
} from '../source.ts'

/** What the files of `folder` load that only Node has, at any depth: a module, or a global. */
export function nodeReachableFrom(tree: Tree, folder: string): string[] {
  const files = codeOf(tree)
  const waiting = [...files.keys()].filter((path) => path.startsWith(folder) && !isTest(path))
  const reached = new Set(waiting)
  for (const path of waiting) {
    for (const specifier of loadedEver(path, files.get(path) ?? '')) {
      if (!isRelative(specifier)) continue
      const target = resolve(path, specifier)
      if (reached.has(target) || !files.has(target)) continue
      reached.add(target)
      waiting.push(target)
    }
  }
  return [...reached].flatMap((path) => {
    const text = files.get(path) ?? ''
    const modules = loadedEver(path, text).filter((one) => one.startsWith('node:'))
    const globals = NODE_GLOBALS.exec(text.replaceAll(/\/\*[^]*?\*\/|\/\/.*|'[^'\n]*'/g, ''))
    return [...modules, ...(globals === null ? [] : [globals[0]])].map(
      (found) => `${path} uses ${found}`,
    )
  })
}

const NODE_GLOBALS = /\b(?:Buffer\.|process\.|setImmediate\()/

/** With the file, or later. */
function loadedEver(path: string, text: string): readonly string[] {
  const later = specifiersOf(path, text).filter((one) => text.includes(`import('${one}')`))
  return [...loadedWith(path, text), ...later]
}
