import { Visitor, type ESTree } from 'rolldown/utils'
import { ESTABLISHED_TERMS, KNOWN_PARTICIPLES, type NamedKind } from './known-participles.ts'
import { codeOf, isPackageSource, lineOf, parse, type Tree } from './source.ts'

/** Verbs whose past participle does not end in `ed`, unless it equals the infinitive (`read`, `set`, `cut`). */
const IRREGULAR =
  /^(un|re|over|with|mis|under|for)?(begun|bought|bound|broken|brought|built|caught|chosen|dealt|done|drawn|driven|drunk|fallen|fed|felt|forgotten|fought|found|given|gone|gotten|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|ridden|said|seen|sent|shown|sought|spent|spoken|stood|stuck|sunk|sworn|swept|taken|taught|thrown|told|torn|understood|woken|won|worn|wound|written)$/

/** They end in `ed` and are not participles. */
const NOT_PARTICIPLES =
  /^(bed|deed|embed|exceed|feed|indeed|need|proceed|red|seed|shed|speed|succeed|undefined|unknown)$/

/**
 * Types, functions, exported constants, fields and methods of the source that have a bare past participle as their name, beyond
 * those in `known` and the established terms: `Asked` does not say who asked what. A count in `known` that is too high is an offence
 * too, so it only shrinks.
 */
export function participleNames(
  tree: Tree,
  known: Readonly<Record<NamedKind, string>> = KNOWN_PARTICIPLES,
): string[] {
  const declared = placesByName(tree)
  const allowed = new Map(
    Object.entries(known).flatMap(([kind, words]) =>
      words
        .trim()
        .split(/\s+/)
        .filter((word) => word !== '')
        .map((word): [string, number] => {
          const [name = '', count = '1'] = word.split('*')
          return [`${kind} ${name}`, Number(count)]
        }),
    ),
  )
  const more = [...declared].flatMap(([key, places]) => {
    const most = allowed.get(key) ?? 0
    if (places.length <= most) return []
    return [
      `${key} is a bare participle (${places.join(', ')}; ${most} allowed); name the thing, or what the function does`,
    ]
  })
  const fewer = [...allowed].flatMap(([key, count]) => {
    const found = declared.get(key)?.length ?? 0
    return found < count
      ? [`known-participles.ts allows ${key} ${count} times; it occurs ${found} times`]
      : []
  })
  return [...more, ...fewer]
}

/** `KNOWN_PARTICIPLES` as the source is now, one kind a row, to be pasted over it after names were removed. */
export function participleRows(tree: Tree): string[] {
  const rows = new Map<string, string[]>()
  for (const [key, { length }] of placesByName(tree)) {
    const [kind = '', name = ''] = key.split(' ')
    rows.set(kind, [...(rows.get(kind) ?? []), length === 1 ? name : `${name}*${length}`])
  }
  return [...rows].map(([kind, words]) => `${kind}: ${words.toSorted().join(' ')}`)
}

function placesByName(tree: Tree): Map<string, string[]> {
  const declared = new Map<string, string[]>()
  for (const { kind, name, at } of participlesIn(tree)) {
    const key = `${kind} ${name}`
    declared.set(key, [...(declared.get(key) ?? []), at])
  }
  return declared
}

function participlesIn(tree: Tree): { kind: NamedKind; name: string; at: string }[] {
  return [...codeOf(tree)]
    .filter(([path]) => isPackageSource(path))
    .flatMap(([path, text]) =>
      declarationsOf(path, text)
        .filter(({ name }) => isParticiple(name) && ESTABLISHED_TERMS[name] === undefined)
        .map(({ kind, name, start }) => ({ kind, name, at: `${path}:${lineOf(text, start)}` })),
    )
}

function isParticiple(name: string): boolean {
  // A name of several words says what it is about: `shownQuestion`, `SEARCHED_TYPES`.
  if (!/^([A-Z]?[a-z]+|[A-Z]+)$/.test(name)) return false
  const word = name.toLowerCase()
  return (word.endsWith('ed') || IRREGULAR.test(word)) && !NOT_PARTICIPLES.test(word)
}

interface Declaration {
  readonly kind: NamedKind
  readonly name: string
  readonly start: number
}

function declarationsOf(path: string, text: string): Declaration[] {
  const found: Declaration[] = []
  const add = (kind: NamedKind, id: ESTree.Node | null) => {
    const isName = id?.type === 'Identifier' || id?.type === 'PrivateIdentifier'
    if (isName) found.push({ kind, name: id.name, start: id.start })
  }
  const addField = ({ key, computed }: { key: ESTree.PropertyKey; computed: boolean }) => {
    if (!computed) add('field', key)
  }
  new Visitor({
    TSInterfaceDeclaration: ({ id }) => add('type', id),
    TSTypeAliasDeclaration: ({ id }) => add('type', id),
    ClassDeclaration: ({ id }) => add('type', id),
    FunctionDeclaration: ({ id }) => add('function', id),
    ExportNamedDeclaration: ({ declaration }) => {
      if (declaration?.type !== 'VariableDeclaration') return
      for (const { id } of declaration.declarations) add('constant', id)
    },
    TSPropertySignature: addField,
    TSMethodSignature: addField,
    PropertyDefinition: addField,
    MethodDefinition: addField,
  }).visit(parse(path, text).program)
  return found
}
