import { expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { ERROR_KINDS } from '../../src/model/errors.ts'
import { httpApp } from '../../src/presenters/http/app.ts'
import { ERROR_RESPONSES } from '../../src/presenters/http/exchange/error-table.ts'
import type { ServerParts } from '../../src/presenters/http/server-parts.ts'

test('every error kind has this status and type over HTTP', () => {
  expect(Object.keys(ERROR_RESPONSES)).toEqual([...ERROR_KINDS])
  const rows = Object.entries(ERROR_RESPONSES).map(
    ([kind, { status, type }]) => `${kind} ${status} ${type}`,
  )
  expect(rows).toMatchSnapshot()
})

test('the routes are these', () => {
  const { routes } = httpApp({
    token: '',
    clock: systemClock,
  } as Partial<ServerParts> as ServerParts)
  const named = routes.flatMap(({ method, path }) => (method === 'ALL' ? [] : `${method} ${path}`))
  expect(named).toMatchSnapshot()
})
