import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { RECORD_ATTACKS, RECORD_LINKS } from './record-attacks.ts'

const Found = z.record(z.string(), z.string())
const CHILD = new URL('records-child.ts', import.meta.url)
const { isConfined } = await systemSandbox().status()
const canRun = isConfined && existsSync('/usr/bin/perl')

const nothing = (all: readonly { readonly name: string }[]) =>
  Object.fromEntries(all.map(({ name }) => [name, 'nothing']))

test.runIf(canRun).each(USERS)(
  'as %s: a guest neither sees nor changes records of the person or of other Instances',
  async (user) => {
    const found = Found.parse(JSON.parse(await attackAs(user, CHILD)))
    expect(found).toEqual(nothing([...RECORD_ATTACKS, ...RECORD_LINKS]))
  },
)

test.runIf(canRun)(
  'the same attacks succeed on a guest that is shown the .hawser of the person',
  async () => {
    const [user = ''] = USERS
    const found = Found.parse(JSON.parse(await attackAs(user, CHILD, 'shared')))
    const through = RECORD_ATTACKS.filter(({ works }) => works).map(({ name }) => name)
    expect(Object.keys(found).filter((name) => found[name]?.startsWith('it '))).toEqual(through)
  },
)
