import { createRoot } from 'react-dom/client'
import { redeem, takeLink } from './api/sign-in.ts'
import { App } from './shell/app.tsx'
import { SignedOut } from './shell/signed-out.tsx'
import { applyTheme } from './shell/theme.ts'
import { claimTab } from './composer/local-copies.ts'
import { storedToken } from './store/token.ts'

// The browser would keep a record of every request of a page that stays open for days.
performance.setResourceTimingBufferSize(0)

const FOLDER = 'hawser.folder'
const place = document.getElementById('app')
if (place !== null) {
  applyTheme()
  const root = createRoot(place)
  const claimed = claimTab()
  const show = async () => {
    const { code, folder } = takeLink()
    await claimed
    if (folder !== undefined) sessionStorage.setItem(FOLDER, folder)
    const problem = code === undefined ? undefined : await redeem(code)
    root.render(
      storedToken() === undefined ? (
        <SignedOut problem={problem ?? ''} />
      ) : (
        <App folder={sessionStorage.getItem(FOLDER) ?? ''} />
      ),
    )
  }
  // A second link in the same tab changes only the fragment.
  addEventListener('hashchange', () => void show())
  void show()
}
