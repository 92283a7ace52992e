//! What is written is there wholly or not at all, and nobody else may read it.

use super::{Access, Growing, create, replace, replace_in_folder};
use std::fs;
use std::io::{self, Write as _};

fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

#[test]
fn half_a_line_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut output = Growing::create(&path, false).unwrap();
    assert!(output.is_new());
    output.append(|file| file.write_all(b"one\n")).unwrap();
    let failed = output.append(|file| {
        file.write_all(b"half")?;
        Err(full())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    output.append(|file| file.write_all(b"two\n")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    #[cfg(unix)]
    assert!(Growing::create(&path, true).unwrap_err().contains("another program"));
    drop(output);
    assert!(!Growing::create(&path, true).unwrap().is_new() && fs::read(&path).unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_a_session() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    for name in ["old", "older", "oldest"] {
        fs::write(folder.path().join(name), "").unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o640)).unwrap();
    }
    for name in ["new", "old"] {
        Growing::create(&folder.path().join(name), false).unwrap();
        assert_eq!(mode(name), 0o600, "{name}");
    }
    let put = |name: &str, access| {
        replace(&folder.path().join(name), access, |out| out.write_all(b"x")).unwrap();
    };
    put("older", Access::Private);
    put("oldest", Access::Usual);
    put("usual", Access::Usual);
    fs::write(folder.path().join("plain"), "").unwrap();
    let seen = |name: &str, access| {
        let mut modes = Vec::new();
        replace(&folder.path().join(name), access, |out| {
            out.write_all(&[b'x'; 1 << 20])?;
            let all = fs::read_dir(folder.path())?.map(|entry| entry.unwrap());
            let parts = all.filter(|entry| entry.file_name().to_str().unwrap().ends_with(".part"));
            modes = parts.map(|part| part.metadata().unwrap().permissions().mode() & 0o777).collect();
            Ok(())
        })
        .unwrap();
        assert!(modes.iter().all(|part| part & !mode(name) == 0), "{name}: {modes:?}");
    };
    seen("oldest", Access::Usual);
    seen("private", Access::Private);
    assert_eq!((mode("older"), mode("oldest"), mode("usual")), (0o600, 0o640, mode("plain")));
}

#[test]
fn what_is_made_at_once_is_there_wholly_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let half = |out: &mut dyn io::Write| out.write_all(b"half").and(Err(full()));
    assert!(replace(&path, Access::Private, half).is_err() && !path.exists());
    fs::write(&path, "before").unwrap();
    assert!(replace(&path, Access::Usual, half).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    replace(&path, Access::Usual, |out| out.write_all(b"after")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    let refused = create(&path, Access::Usual, |out| out.write_all(b"again"));
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    fs::remove_file(&path).unwrap();
    let refused = create(&path, Access::Usual, |out| {
        fs::write(&path, "meanwhile")?;
        out.write_all(b"again")
    });
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "meanwhile");
    fs::write(&path, "").unwrap();
    create(&path, Access::Usual, |out| out.write_all(b"once")).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left aside");
    let below = folder.path().join("made/for/nothing");
    assert!(replace_in_folder(&below, Access::Usual, half).is_err());
    assert!(!folder.path().join("made").exists());
    replace_in_folder(&below, Access::Usual, |out| out.write_all(b"x")).unwrap();
    assert!(replace_in_folder(&below.with_file_name("b"), Access::Usual, half).is_err());
    assert!(below.exists(), "what holds something stays");
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_a_pipe_that_nobody_reads_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, pipe] = ["file", "link", "pipe"].map(|name| folder.path().join(name));
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    replace(&link, Access::Usual, |out| out.write_all(b"after")).unwrap();
    assert!(link.is_symlink() && fs::read_to_string(&file).unwrap() == "after");
    fs::remove_file(&file).unwrap();
    replace(&link, Access::Usual, |out| out.write_all(b"anew")).unwrap();
    assert!(link.is_symlink() && fs::read_to_string(&file).unwrap() == "anew");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(Growing::create(&pipe, true).unwrap_err().contains("nobody reads"));
    assert!(replace(&pipe, Access::Usual, |_| Ok(())).is_err());
    replace(std::path::Path::new("/dev/null"), Access::Usual, |out| out.write_all(b"x")).unwrap();
}
