/**
 * A folder of programs and libraries in a home. The sandbox shows it read-only, without the credentials in it, and sets
 * the variable that makes its programs find it, because they run with another home.
 */
export interface Toolchain {
  /** Relative to the home. */
  readonly folder: string
  /** Overrides the location. Passed on if it is set and the folder exists. */
  readonly variable?: string
  /** Its programs look in their home unless the variable is set, so it is set whenever the folder exists. */
  readonly byHome?: true
  readonly why: string
}

const MANAGER = 'versions of a language, installed by its version manager'
const TOOLS = 'programs that a package manager installed for this user'

export const TOOLCHAINS: readonly Toolchain[] = [
  { folder: '.rustup', variable: 'RUSTUP_HOME', byHome: true, why: MANAGER },
  {
    folder: '.cargo',
    variable: 'CARGO_HOME',
    byHome: true,
    why: 'cargo, its programs and fetched crates',
  },
  { folder: '.nvm', variable: 'NVM_DIR', byHome: true, why: MANAGER },
  { folder: '.config/nvm', why: MANAGER },
  { folder: '.volta', variable: 'VOLTA_HOME', byHome: true, why: MANAGER },
  { folder: '.local/share/fnm', variable: 'FNM_DIR', byHome: true, why: MANAGER },
  { folder: '.fnm', why: MANAGER },
  { folder: 'n', variable: 'N_PREFIX', why: MANAGER },
  { folder: '.nodenv', variable: 'NODENV_ROOT', byHome: true, why: MANAGER },
  { folder: '.nodebrew', variable: 'NODEBREW_ROOT', why: MANAGER },
  { folder: '.npm-global', why: TOOLS },
  { folder: '.npm-packages', why: TOOLS },
  { folder: '.local/share/pnpm', variable: 'PNPM_HOME', why: TOOLS },
  { folder: '.yarn', why: TOOLS },
  { folder: '.config/yarn/global', why: TOOLS },
  {
    folder: '.cache/node/corepack',
    variable: 'COREPACK_HOME',
    byHome: true,
    why: 'package managers of Node',
  },
  { folder: '.bun', variable: 'BUN_INSTALL', byHome: true, why: MANAGER },
  { folder: '.deno', variable: 'DENO_INSTALL', why: MANAGER },
  { folder: '.pyenv', variable: 'PYENV_ROOT', byHome: true, why: MANAGER },
  { folder: '.local/lib', why: 'packages that pip installed for this user' },
  { folder: '.local/share/pipx', variable: 'PIPX_HOME', byHome: true, why: TOOLS },
  { folder: '.local/pipx', why: TOOLS },
  { folder: '.local/share/uv', why: 'versions of Python and tools of uv' },
  { folder: '.local/share/pypoetry', variable: 'POETRY_HOME', why: TOOLS },
  { folder: '.local/share/hatch', variable: 'HATCH_DATA_DIR', why: MANAGER },
  { folder: '.local/share/virtualenvs', variable: 'WORKON_HOME', why: 'environments of pipenv' },
  { folder: '.virtualenvs', why: 'environments of virtualenvwrapper' },
  { folder: '.rye', variable: 'RYE_HOME', byHome: true, why: MANAGER },
  { folder: '.pixi', variable: 'PIXI_HOME', byHome: true, why: MANAGER },
  { folder: 'miniconda3', why: MANAGER },
  { folder: 'anaconda3', why: MANAGER },
  { folder: 'miniforge3', why: MANAGER },
  { folder: 'mambaforge', why: MANAGER },
  { folder: '.conda', why: 'environments of conda' },
  { folder: 'micromamba', variable: 'MAMBA_ROOT_PREFIX', byHome: true, why: MANAGER },
  { folder: 'go', variable: 'GOPATH', byHome: true, why: 'programs and fetched modules of Go' },
  { folder: 'sdk', why: 'versions of Go' },
  { folder: '.go', variable: 'GOROOT', why: MANAGER },
  { folder: '.goenv', variable: 'GOENV_ROOT', byHome: true, why: MANAGER },
  { folder: '.gvm', why: MANAGER },
  { folder: '.sdkman', variable: 'SDKMAN_DIR', byHome: true, why: MANAGER },
  { folder: '.jenv', variable: 'JENV_ROOT', byHome: true, why: MANAGER },
  { folder: '.jdks', variable: 'JAVA_HOME', why: MANAGER },
  { folder: '.jabba', variable: 'JABBA_HOME', why: MANAGER },
  { folder: '.local/share/coursier', why: MANAGER },
  { folder: 'Android/Sdk', variable: 'ANDROID_HOME', why: 'tools of Android' },
  { folder: '.rbenv', variable: 'RBENV_ROOT', byHome: true, why: MANAGER },
  { folder: '.rvm', variable: 'rvm_path', why: MANAGER },
  { folder: '.rubies', why: MANAGER },
  { folder: '.gem', variable: 'GEM_HOME', why: 'gems of this user' },
  { folder: '.local/share/gem', why: 'gems of this user' },
  { folder: '.asdf', variable: 'ASDF_DATA_DIR', byHome: true, why: MANAGER },
  { folder: '.local/share/mise', variable: 'MISE_DATA_DIR', byHome: true, why: MANAGER },
  { folder: '.local/share/rtx', why: MANAGER },
  { folder: '.proto', variable: 'PROTO_HOME', byHome: true, why: MANAGER },
  { folder: '.julia', variable: 'JULIA_DEPOT_PATH', why: 'packages of Julia' },
  { folder: '.juliaup', why: MANAGER },
  { folder: '.ghcup', variable: 'GHCUP_INSTALL_BASE_PREFIX', why: MANAGER },
  { folder: '.cabal', variable: 'CABAL_DIR', byHome: true, why: 'packages of Haskell' },
  { folder: '.stack', variable: 'STACK_ROOT', byHome: true, why: MANAGER },
  { folder: '.opam', variable: 'OPAMROOT', byHome: true, why: MANAGER },
  { folder: '.elan', variable: 'ELAN_HOME', byHome: true, why: MANAGER },
  { folder: '.nimble', variable: 'NIMBLE_DIR', byHome: true, why: 'packages of Nim' },
  { folder: '.choosenim', variable: 'CHOOSENIM_DIR', byHome: true, why: MANAGER },
  { folder: '.dotnet', variable: 'DOTNET_ROOT', why: MANAGER },
  { folder: '.swiftly', variable: 'SWIFTLY_HOME_DIR', why: MANAGER },
  { folder: '.local/share/swiftly', why: MANAGER },
  { folder: '.pub-cache', variable: 'PUB_CACHE', byHome: true, why: 'packages of Dart' },
  { folder: 'flutter', variable: 'FLUTTER_ROOT', why: MANAGER },
  { folder: 'perl5', variable: 'PERLBREW_ROOT', why: MANAGER },
  { folder: '.plenv', variable: 'PLENV_ROOT', why: MANAGER },
  { folder: '.phpenv', variable: 'PHPENV_ROOT', why: MANAGER },
  { folder: '.composer/vendor', why: TOOLS },
  { folder: '.config/composer/vendor', why: TOOLS },
  { folder: '.mix', variable: 'MIX_HOME', byHome: true, why: 'tools of Elixir' },
  { folder: '.kiex', why: MANAGER },
  { folder: '.kerl', why: MANAGER },
  { folder: '.luarocks', why: 'packages of Lua' },
  { folder: '.local/share/zigup', why: MANAGER },
  { folder: '.zvm', variable: 'ZVM_PATH', why: MANAGER },
  { folder: '.wasmtime', variable: 'WASMTIME_HOME', why: MANAGER },
  { folder: '.wasmer', variable: 'WASMER_DIR', why: MANAGER },
  { folder: '.foundry', variable: 'FOUNDRY_DIR', why: MANAGER },
  { folder: '.tfenv', variable: 'TFENV_ROOT', why: MANAGER },
  { folder: '.tenv', variable: 'TENV_ROOT', why: MANAGER },
  { folder: '.krew', variable: 'KREW_ROOT', why: TOOLS },
  { folder: '.linuxbrew', variable: 'HOMEBREW_PREFIX', why: TOOLS },
  { folder: '.nix-profile', why: 'profile of Nix, a link into its store' },
  { folder: '.local/state/nix', why: 'profiles of Nix' },
  { folder: '.guix-profile', why: 'profile of Guix, a link into its store' },
]

/** Variables that point to a location below the folder of a toolchain. */
export const VARIABLES_BELOW: readonly {
  readonly variable: string
  readonly folder: string
  readonly below: string
}[] = [
  { variable: 'PYTHONUSERBASE', folder: '.local/lib', below: '..' },
  { variable: 'UV_PYTHON_INSTALL_DIR', folder: '.local/share/uv', below: 'python' },
  { variable: 'UV_TOOL_DIR', folder: '.local/share/uv', below: 'tools' },
]
