// Generates JSON Schemas of what each vendor accepts and sends from the types of its official SDK: `npm run vendor-schemas`.
// Run it after upgrading an SDK; a test compares the version recorded in each schema.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGenerator } from 'ts-json-schema-generator'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, 'rehearse/vendor-schemas')

const DIALECTS = [
  {
    dialect: 'messages',
    sdk: '@anthropic-ai/sdk',
    file: 'resources/messages/messages',
    types: { request: 'MessageCreateParamsStreaming', event: 'RawMessageStreamEvent' },
  },
  {
    dialect: 'responses',
    sdk: 'openai',
    file: 'resources/responses/responses',
    types: { request: 'ResponseCreateParamsStreaming', event: 'ResponseStreamEvent' },
  },
  {
    dialect: 'chat',
    sdk: 'openai',
    file: 'resources/chat/completions/completions',
    types: { request: 'ChatCompletionCreateParamsStreaming', event: 'ChatCompletionChunk' },
  },
]

/** How an SDK documents a parameter that is sent in a header and is not a field of the body. */
const HEADER = /^Header param:/

/** Fields that an SDK adds to an answer after reading it. */
const ADDED_BY_SDK = { Response: ['output_text'] }

const TAKEN_OVER = new Set(['$ref', 'const', 'enum', 'type'])
const ONLY_PROSE = new Set(['$schema', 'description', 'deprecated'])

await mkdir(FOLDER, { recursive: true })
const generator = await generatorOfTypes()
for (const { dialect, sdk, types } of DIALECTS) {
  const { version } = JSON.parse(
    await readFile(join(ROOT, 'node_modules', sdk, 'package.json'), 'utf8'),
  )
  for (const kind of Object.keys(types)) {
    const { definitions, ...top } = generator.createSchema(typeName(dialect, kind))
    const text = written({
      $comment: `${sdk}@${version}`,
      ...onTheWire(top),
      definitions: Object.fromEntries(
        Object.entries(definitions)
          .toSorted(byName)
          .map(([name, schema]) => [name, onTheWire(withoutAdded(name, schema))]),
      ),
    })
    await writeFile(join(FOLDER, `${dialect}.${kind}.json`), text)
    console.log(`${dialect}.${kind}.json: ${Buffer.byteLength(text)} bytes, ${sdk}@${version}`)
  }
}

/** The generator reads types from files, which must be in node_modules for the SDK names to resolve. */
async function generatorOfTypes() {
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.vendor-schemas-'))
  const path = join(folder, 'types.ts')
  const tsconfig = join(folder, 'tsconfig.json')
  const lines = DIALECTS.flatMap(({ dialect, sdk, file, types }) => [
    `import type * as ${dialect} from '${sdk}/${file}'`,
    ...Object.entries(types).map(
      ([kind, type]) => `export type ${typeName(dialect, kind)} = ${dialect}.${type}`,
    ),
  ])
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  }
  try {
    await writeFile(path, `${lines.join('\n')}\n`)
    await writeFile(tsconfig, JSON.stringify({ compilerOptions, files: [path] }))
    return createGenerator({
      path,
      tsconfig,
      expose: 'all',
      topRef: false,
      // Descriptions distinguish headers from fields.
      jsDoc: 'extended',
      additionalProperties: false,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

function typeName(dialect, kind) {
  return `${dialect}_${kind}`
}

/** A schema of the bytes: without prose, headers and anything else that never leaves the SDK. Keys in alphabetical order. */
function onTheWire(schema) {
  if (typeof schema !== 'object') return schema
  const entries = Object.entries(schema).toSorted(byName)
  return Object.fromEntries(
    entries.flatMap(([keyword, value]) => {
      if (ONLY_PROSE.has(keyword)) return []
      if (TAKEN_OVER.has(keyword)) return [[keyword, value]]
      if (keyword === 'anyOf') return [[keyword, value.map(onTheWire)]]
      if (keyword === 'items' || keyword === 'additionalProperties')
        return [[keyword, onTheWire(value)]]
      if (keyword === 'required') return [[keyword, value.filter(isField(schema)).toSorted()]]
      if (keyword === 'properties') {
        const names = Object.keys(value).filter(isField(schema)).toSorted()
        return [[keyword, Object.fromEntries(names.map((name) => [name, onTheWire(value[name])]))]]
      }
      throw new Error(`unknown keyword "${keyword}" from the generator`)
    }),
  )
}

function isField({ properties }) {
  return (name) => !HEADER.test(properties[name].description ?? '')
}

function withoutAdded(definition, schema) {
  const added = ADDED_BY_SDK[definition] ?? []
  const properties = { ...schema.properties }
  for (const name of added) {
    if (!(name in properties)) throw new Error(`${definition} no longer has ${name}`)
    delete properties[name]
  }
  if (added.length === 0) return schema
  const required = schema.required.filter((name) => !added.includes(name))
  return { ...schema, properties, required }
}

/** One line per definition, so that the difference between two versions is readable. */
function written({ definitions, ...top }) {
  const lines = Object.entries(definitions).map(
    ([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`,
  )
  return `${JSON.stringify(top).slice(0, -1)},"definitions":{\n${lines.join(',\n')}\n}}\n`
}

function byName([a], [b]) {
  return a < b ? -1 : 1
}
