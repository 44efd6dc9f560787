import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../../test/support/host/folder.ts'
import { pageWorld } from '../../../../../test/support/http/page-world.ts'
import { openPage } from './page.ts'

async function scene(opens: boolean) {
  const root = await freshFolder()
  const home = join(root, 'home')
  const given: string[] = []
  const world = pageWorld(root, root, async (path) => {
    given.push(path)
    return opens
  })
  return { root, home, given, world }
}

test('the browser gets a file with the link, which only its owner can read', async () => {
  const { root, home, given, world } = await scene(true)
  const page = await openPage(world, 'http://127.0.0.1:4600', 'secret-code')
  const folder = encodeURIComponent(root)
  const page_url = `http://127.0.0.1:4600/#code=secret-code&folder=${folder}`
  expect(page).toEqual({ page_url, opened: true })
  const file = join(home, 'open.html')
  // The path is all that other users can see.
  expect([given, given.join('').includes('secret-code')]).toEqual([[file], false])
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
  expect(await readFile(file, 'utf8')).toContain(`url=${page_url.replace('&', '&amp;')}"`)
})

test('without a browser there is only the link', async () => {
  const { home, world } = await scene(false)
  expect(await openPage(world, 'http://127.0.0.1:4600', 'c')).toMatchObject({ opened: false })
  expect(await readdir(home)).not.toContain('open.html')
})
